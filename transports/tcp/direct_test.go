package tcp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// ways are the configurations that make a connection wait differently.
func ways() map[string]wire.Config {
	rounds, burst, many := config(1), config(1), config(1)
	rounds.Suite, rounds.Samples = wire.SuiteSparse, 1000
	burst.Suite = wire.SuiteSparse
	many.Suite = wire.SuiteConcurrent
	return map[string]wire.Config{"in the kernel": rounds, "back in the poller": burst, "always in the poller": many}
}

// started runs call and returns where its error will be.
func started(call func() error) <-chan error {
	failed := make(chan error, 1)
	go func() { failed <- call() }()
	return failed
}

func TestCloseEndsRecvAndSend(t *testing.T) {
	for name, cfg := range ways() {
		for _, api := range []string{wire.APISend, wire.APIBatch} {
			t.Run(name+" "+api, func(t *testing.T) {
				cfg.API, cfg.SndBuf, cfg.RcvBuf = api, 4096, 4096
				for _, side := range []string{"client", "server"} {
					client, server := connected(t, cfg, 46)
					c := client
					if side == "server" {
						c = server
					}
					sent := make(chan struct{}, 1<<20)
					receiver := started(func() error { _, err := c.Recv(make([]byte, 64)); return err })
					sender := started(func() error {
						for {
							if err := c.Send(make([]byte, 64)); err != nil {
								return err
							}
							sent <- struct{}{}
						}
					})
					for range 64 { // about full; whether it waits by now or later makes no difference
						<-sent
					}
					if err := c.Close(); err != nil {
						t.Errorf("%s: close: %v", side, err)
					}
					for call, failed := range map[string]<-chan error{"recv": receiver, "send": sender} {
						if err := <-failed; !errors.Is(err, net.ErrClosed) {
							t.Errorf("%s: %s got %v", side, call, err)
						}
					}
					_, err := c.Recv(make([]byte, 64))
					if err2 := c.Send(nil); !errors.Is(err, net.ErrClosed) || !errors.Is(err2, net.ErrClosed) {
						t.Errorf("%s: after the close: %v, %v", side, err, err2)
					}
					_, _ = client.Close(), server.Close()
				}
			})
		}
	}
}

// A message that comes later than promptWait finds its reader in another wait.
func TestLateMessages(t *testing.T) {
	for name, cfg := range ways() {
		t.Run(name, func(t *testing.T) {
			client, server := connected(t, cfg, 47)
			for i := range 3 {
				at := time.NewTimer(30 * time.Millisecond)
				got := started(func() error {
					b := make([]byte, 8)
					if n, err := server.Recv(b); err != nil || !bytes.Equal(b[:n], []byte{byte(i)}) {
						return errors.Join(errors.New("wrong message"), err)
					}
					return nil
				})
				<-at.C
				if err := client.Send([]byte{byte(i)}); err != nil {
					t.Fatal(err)
				}
				if err := <-got; err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// More than the buffers hold goes through while both directions are in use, in whatever pieces.
func TestStreamBothWays(t *testing.T) {
	for name, cfg := range ways() {
		t.Run(name, func(t *testing.T) {
			cfg.SndBuf, cfg.RcvBuf, cfg.Payload = 4096, 4096, 60_000
			client, server := connected(t, cfg, 48)
			r := rand.New(rand.NewPCG(7, 8))
			want := make([]byte, cfg.Payload)
			for i := range want {
				want[i] = byte(r.IntN(256))
			}
			const messages = 40
			failed := []<-chan error{started(func() error { return echoSome(server, messages, cfg.Payload) }), started(func() error {
				for range messages {
					if err := client.Send(want); err != nil {
						return err
					}
				}
				return nil
			})}
			got := make([]byte, cfg.Payload)
			for i := range messages {
				if n, err := client.Recv(got); err != nil || !bytes.Equal(got[:n], want) {
					t.Fatalf("message %d: %d bytes, %v", i, n, err)
				}
			}
			for _, f := range failed {
				if err := <-f; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func echoSome(c echo.Conn, messages, payload int) error {
	b := make([]byte, payload)
	for range messages {
		n, err := c.Recv(b)
		if err != nil {
			return err
		}
		if err := c.Send(b[:n]); err != nil {
			return err
		}
	}
	return nil
}

// A reset is an error of its own, not an orderly end.
func TestReset(t *testing.T) {
	for name, cfg := range ways() {
		client, server := connected(t, cfg, 49)
		if err := client.Send([]byte("unread")); err != nil {
			t.Fatal(err)
		}
		linger := unix.Linger{Onoff: 1}
		if err := onSocket(tcpOf(client), func(fd int) error {
			return unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &linger)
		}); err != nil {
			t.Fatal(err)
		}
		_ = tcpOf(client).Close()
		b := make([]byte, 8)
		_, err := server.Recv(b)
		for err == nil {
			_, err = server.Recv(b)
		}
		if !errors.Is(err, unix.ECONNRESET) && !errors.Is(err, io.EOF) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestWaysOfWaiting(t *testing.T) {
	cfg := config(1)
	cfg.Warmup, cfg.Samples = 1, 2
	client, server := connected(t, cfg, 50)
	both := []echo.Conn{client, server}
	for i := range 5 {
		if err := client.Send([]byte{1}); err != nil {
			t.Fatal(err)
		}
		if err := echoSome(server, 1, 8); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Recv(make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if in := both[0].(*conn).wait.direct.polled != nil; in != (i >= 3) {
			t.Errorf("after %d messages the client is in the poller: %v", i+1, in)
		}
	}
}
