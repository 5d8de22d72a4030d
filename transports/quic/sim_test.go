package quic

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"testing"
	"testing/synctest"
	"time"

	quicgo "github.com/quic-go/quic-go"

	"transportbench/transports/echo"
	"transportbench/transports/linksim"
	"transportbench/transports/wire"
)

var (
	clientAddr = netip.MustParseAddrPort("10.0.0.2:10000")
	serverAddr = netip.MustParseAddrPort("10.0.0.1:19342")
)

// simConfig keeps the packet size that quic-go's pacer assumes. It never learns of another one: with more it counts a budget of
// 1,280 B as enough to send now while the sender wants a whole packet, and loops until the clock has moved on. On a real clock
// that costs microseconds; in a bubble, whose clock waits for the loop, it never ends.
func simConfig() wire.Config {
	cfg := wire.Default()
	cfg.MTU = 1280
	return cfg
}

// overSim connects a client and a server over the simulated network and hands their connections to use.
func overSim(t *testing.T, cfg wire.Config, network *linksim.Network, use func(client, server echo.Conn)) {
	t.Helper()
	near, err := network.Listen(clientAddr)
	if err != nil {
		t.Fatal(err)
	}
	far, err := network.Listen(serverAddr)
	if err != nil {
		t.Fatal(err)
	}
	l, err := serve(far, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := dial(t.Context(), near, far.LocalAddr(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	server, err := l.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	use(client, server)
}

// message is number n of a test; its size and its bytes follow from n.
func message(n int) []byte {
	b := bytes.Repeat([]byte{byte(n)}, 8+n*37%3000)
	binary.LittleEndian.PutUint64(b, uint64(n))
	return b
}

// echoAll sends back what it receives, one message at a time or in batches, until the connection ends.
func echoAll(c echo.Conn) error {
	if b, ok := c.(echo.BatchConn); ok {
		return echoBatches(b)
	}
	buf := make([]byte, maxPayload)
	for {
		n, err := c.Recv(buf)
		if err != nil {
			return err
		}
		if err := c.Send(buf[:n]); err != nil {
			return err
		}
	}
}

func echoBatches(c echo.BatchConn) error {
	store := make([][]byte, 40) // more than a Write may carry
	for i := range store {
		store[i] = make([]byte, maxPayload)
	}
	for {
		if err := c.(echo.Waiter).Wait(); err != nil {
			return err
		}
		bufs := append([][]byte(nil), store...)
		n, err := c.RecvBatch(bufs)
		if err != nil {
			return err
		}
		if err := c.SendBatch(bufs[:n]); err != nil {
			return err
		}
	}
}

// exchange has count messages echoed, all of them under way at once, and checks every byte and the order, then
// closes the client.
func exchange(t *testing.T, client, server echo.Conn, count int, lossy bool) {
	t.Helper()
	echoed, sent := make(chan error, 1), make(chan error, 1)
	go func() { echoed <- echoAll(server) }()
	go func() {
		var failed error
		for n := 0; n < count && failed == nil; n++ {
			failed = client.Send(message(n))
		}
		sent <- failed
	}()
	buf := make([]byte, maxPayload)
	for want := range count {
		n, err := client.Recv(buf)
		if err != nil {
			t.Fatalf("echo %d: %v", want, err)
		}
		if !bytes.Equal(buf[:n], message(want)) {
			t.Fatalf("echo %d differs: %d B, starts % x", want, n, buf[:min(n, 8)])
		}
	}
	if err := <-sent; err != nil {
		t.Errorf("sender: %v", err)
	}
	client.Close()
	// CONNECTION_CLOSE is sent once: where it may be lost, the idle timeout is the other right answer.
	var idle *quicgo.IdleTimeoutError
	if err := <-echoed; err != io.EOF && (!lossy || !errors.As(err, &idle)) {
		t.Errorf("server saw %v after the client's Close, want io.EOF", err)
	}
}

func TestMessagesSurviveTheNetwork(t *testing.T) {
	delay := 5 * time.Millisecond
	for name, path := range map[string]linksim.Path{
		"clean":     {Delay: delay},
		"loss 1 %":  {Delay: delay, LossPPM: 10_000},
		"loss 5 %":  {Delay: delay, LossPPM: 50_000},
		"reordered": {Delay: delay, ReorderPPM: 100_000, ReorderBy: 3 * time.Millisecond},
		"jitter":    {Delay: delay, Jitter: 10 * time.Millisecond},
		"doubled":   {Delay: delay, DuplicatePPM: 200_000},
		"all":       {Delay: delay, Jitter: delay, LossPPM: 20_000, DuplicatePPM: 20_000, ReorderPPM: 20_000, ReorderBy: delay},
	} {
		for _, api := range []string{wire.APISend, wire.APIBatch} {
			t.Run(name+" "+api, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := simConfig()
					cfg.API = api
					network := linksim.New(1, path)
					overSim(t, cfg, network, func(client, server echo.Conn) { exchange(t, client, server, 500, path.LossPPM > 0) })
					s := network.Total()
					if path.LossPPM > 0 && s.Lost == 0 || path.DuplicatePPM > 0 && s.Duplicated == 0 || (path.ReorderPPM > 0 || path.Jitter > 0) && s.Reordered == 0 {
						t.Errorf("the network did nothing: %+v", s)
					}
				})
			})
		}
	}
}

func TestRecvEndsWhenThePeerIsDead(t *testing.T) {
	for _, test := range []struct {
		name     string
		deadline time.Duration
		after    time.Duration
	}{
		{"idle timeout", time.Hour, 120 * time.Second},
		{"deadline", 30 * time.Second, 30 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := simConfig()
				cfg.Deadline = test.deadline
				network := linksim.New(1, linksim.Path{Delay: time.Millisecond})
				overSim(t, cfg, network, func(client, server echo.Conn) {
					network.SetPath(serverAddr, clientAddr, linksim.Path{LossPPM: 1_000_000})
					start := time.Now()
					_, err := client.Recv(make([]byte, 1))
					var timeout interface{ Timeout() bool }
					if !errors.As(err, &timeout) || !timeout.Timeout() {
						t.Errorf("recv ended with %v, want a timeout", err)
					}
					if d := time.Since(start); d < test.after-time.Second || d > test.after+time.Second {
						t.Errorf("recv took %v, want about %v", d, test.after)
					}
				})
			})
		})
	}
}

func TestSendEndsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := simConfig()
		cfg.Deadline = time.Minute
		overSim(t, cfg, linksim.New(1, linksim.Path{Delay: time.Millisecond}), func(client, server echo.Conn) {
			var err error
			for sent := 0; err == nil && sent < 64<<20; sent += maxPayload { // nobody reads: flow control stops it
				err = client.Send(make([]byte, maxPayload))
			}
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("send ended with %v, want the deadline", err)
			}
		})
	})
}

func TestCloseUnblocksItsOwnReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		overSim(t, simConfig(), linksim.New(1, linksim.Path{}), func(client, server echo.Conn) {
			ended := make(chan error, 2)
			for _, c := range []echo.Conn{client, server} { // the server has no stream yet
				go func() {
					_, err := c.Recv(make([]byte, 1))
					ended <- err
				}()
			}
			synctest.Wait()
			server.Close()
			client.Close()
			for range 2 {
				if err := <-ended; err == nil {
					t.Error("recv returned a message that nobody sent")
				}
			}
		})
	})
}

func TestHandshakeGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := linksim.New(1, linksim.Path{LossPPM: 1_000_000})
		near, err := network.Listen(clientAddr)
		if err != nil {
			t.Fatal(err)
		}
		defer near.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if c, err := dial(ctx, near, net.UDPAddrFromAddrPort(serverAddr), simConfig()); err == nil {
			c.Close()
			t.Fatal("dialled into a dead network")
		}
		if d := time.Since(start); d > 11*time.Second {
			t.Errorf("handshake gave up after %v, want 10s", d)
		}
	})
}
