//go:build linux

// Package interop runs package raknet against RakNet implementations from the npm registry, both as client and as server.
// `npm ci --ignore-scripts` in peers/ installs them.
package interop

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"transportbench/transports/raknet"
)

const patience = 60 * time.Second

// sizes of the messages in bytes; the largest takes eight fragments.
var sizes = []int{64, 800, 4096, 10_000}

// peer is what one implementation can do. What it cannot do is named here and tested to be so where that is possible.
type peer struct {
	name     string
	protocol byte // that its server accepts
	client   bool
	lossy    string // why it does not survive loss; empty if it does
}

var peers = []peer{
	{name: "rust", protocol: raknet.Protocol10, client: true},
	{name: "jsp", protocol: raknet.Protocol10, client: true,
		lossy: "jsp-raknet sends its handshake unreliably and never retransmits on a timeout"},
	{name: "serenity", protocol: raknet.Protocol11},
}

func message(size, n int) []byte {
	b := make([]byte, size)
	b[0] = 0xfe
	for i := 1; i < size; i++ {
		b[i] = byte(7*i + n)
	}
	return b
}

// node starts a peer; the test ends with it.
func node(t *testing.T, role, name string, port int) (*exec.Cmd, *bufio.Reader, *bytes.Buffer) {
	t.Helper()
	if _, err := os.Stat("peers/node_modules"); err != nil {
		t.Skip("unsupported: the npm peers are not installed; run npm ci --ignore-scripts in transports/raknet/interop/peers")
	}
	cmd := exec.Command("node", "peers/peer.js", role, name, fmt.Sprint(port))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var logs bytes.Buffer
	cmd.Stderr = &logs
	if err := cmd.Start(); err != nil {
		t.Skipf("unsupported: node: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended by itself
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("peer: %s", logs.String())
		}
	})
	return cmd, bufio.NewReader(out), &logs
}

// freePort is a UDP port that was free a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}

// TestOurClient dials each peer's server: handshake, echoes, disconnect and reconnect, without and with loss.
func TestOurClient(t *testing.T) {
	for _, p := range peers {
		for _, lossPPM := range []int{0, 20_000} {
			t.Run(fmt.Sprintf("%s/loss %d ppm", p.name, lossPPM), func(t *testing.T) {
				if lossPPM > 0 && p.lossy != "" {
					t.Skipf("unsupported: %s", p.lossy)
				}
				port := freePort(t)
				_, out, _ := node(t, "server", p.name, port)
				if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
					t.Fatalf("peer said %q, %v", line, err)
				}
				addr := relay(t, fmt.Sprintf("127.0.0.1:%d", port), lossPPM)
				for range 2 {
					echoes(t, addr, p.protocol)
				}
			})
		}
	}
}

func echoes(t *testing.T, addr string, protocol byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := raknet.Dial(ctx, addr, &raknet.DialOptions{Protocol: protocol, MTU: 1400})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	buf := make([]byte, 16<<10)
	for n, size := range sizes {
		want := message(size, n)
		if err := c.Send(ctx, want); err != nil {
			t.Fatal(err)
		}
		got, err := c.Recv(ctx, buf)
		if err != nil || !bytes.Equal(buf[:got], want) {
			t.Fatalf("echo of %d B: %d B, %v, %+v", size, got, err, c.Stats())
		}
	}
}

// TestOurServer lets each peer's client dial us, twice.
func TestOurServer(t *testing.T) {
	for _, p := range peers {
		for _, lossPPM := range []int{0, 20_000} {
			t.Run(fmt.Sprintf("%s/loss %d ppm", p.name, lossPPM), func(t *testing.T) {
				switch {
				case !p.client:
					t.Skipf("unsupported: %s has no client", p.name)
				case lossPPM > 0 && p.lossy != "":
					t.Skipf("unsupported: %s", p.lossy)
				}
				l, err := raknet.Listen("127.0.0.1:0", &raknet.ListenOptions{NoCookies: true}) // these clients know no cookies
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				ends := make(chan error, 2)
				go serve(l, ends)
				_, port, _ := strings.Cut(relay(t, l.Addr().String(), lossPPM), ":")
				for range 2 {
					clientRun(t, p.name, port)
					select {
					case err := <-ends:
						if err != io.EOF {
							t.Errorf("end of the connection: %v", err)
						}
					case <-time.After(patience):
						t.Fatal("the connection did not end")
					}
				}
			})
		}
	}
}

func clientRun(t *testing.T, name, port string) {
	t.Helper()
	var n int
	if _, err := fmt.Sscan(port, &n); err != nil {
		t.Fatal(err)
	}
	_, out, logs := node(t, "client", name, n)
	if line, err := out.ReadString('\n'); err != nil || line != "ok\n" {
		t.Fatalf("peer said %q, %v: %s", line, err, logs.String())
	}
}

func serve(l *raknet.Listener, ends chan<- error) {
	for {
		c, err := l.Accept(context.Background())
		if err != nil {
			return
		}
		go func() {
			buf := make([]byte, 16<<10)
			for {
				n, err := c.Recv(context.Background(), buf)
				if err == nil {
					err = c.Send(context.Background(), buf[:n])
				}
				if err != nil {
					ends <- err
					return
				}
			}
		}()
	}
}
