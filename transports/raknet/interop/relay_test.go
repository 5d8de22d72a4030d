//go:build linux

package interop

import (
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
)

// relay forwards datagrams to addr and back and loses some in each direction, by a seeded choice. Without loss it is addr itself.
func relay(t *testing.T, addr string, lossPPM int) string {
	t.Helper()
	if lossPPM == 0 {
		return addr
	}
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	to, err := net.ResolveUDPAddr("udp4", addr)
	if err != nil {
		t.Fatal(err)
	}
	r := &lossy{front: front, to: to, lossPPM: lossPPM, rng: rand.New(rand.NewPCG(1, 2)), paths: map[string]*net.UDPConn{}}
	r.wg.Go(r.forward)
	t.Cleanup(r.close)
	return front.LocalAddr().String()
}

// lossy has a socket towards the server for each client.
type lossy struct {
	front   *net.UDPConn
	to      *net.UDPAddr
	lossPPM int
	wg      sync.WaitGroup

	mu    sync.Mutex
	rng   *rand.Rand
	paths map[string]*net.UDPConn
}

func (r *lossy) lost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rng.IntN(1_000_000) < r.lossPPM
}

// forward ends when the front socket is closed.
func (r *lossy) forward() {
	buf := make([]byte, 2048)
	for {
		n, from, err := r.front.ReadFromUDP(buf)
		if err != nil {
			return
		}
		back, err := r.path(from)
		if err != nil || r.lost() {
			continue
		}
		_, _ = back.Write(buf[:n]) // a refused datagram is a lost one
	}
}

func (r *lossy) path(from *net.UDPAddr) (*net.UDPConn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.paths[from.String()]; c != nil {
		return c, nil
	}
	c, err := net.DialUDP("udp4", nil, r.to)
	if err != nil {
		return nil, err
	}
	r.paths[from.String()] = c
	r.wg.Go(func() { r.backward(c, from) })
	return c, nil
}

// backward ends when its socket is closed.
func (r *lossy) backward(c *net.UDPConn, client *net.UDPAddr) {
	buf := make([]byte, 2048)
	for {
		n, err := c.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil && !r.lost() {
			_, _ = r.front.WriteToUDP(buf[:n], client)
		}
	}
}

func (r *lossy) close() {
	r.front.Close()
	r.mu.Lock()
	for _, c := range r.paths {
		c.Close()
	}
	r.mu.Unlock()
	r.wg.Wait()
}
