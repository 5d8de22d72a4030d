//go:build linux

package raknet

import (
	"context"
	"sync"
	"testing"
	"time"
)

// echoServer accepts until the listener is closed and echoes everything.
func echoServer(l *Listener) {
	for {
		c, err := l.Accept(context.Background())
		if err != nil {
			return
		}
		go func() {
			buf := make([]byte, 20000)
			for {
				n, err := c.Recv(context.Background(), buf)
				if err != nil || c.Send(context.Background(), buf[:n]) != nil {
					return
				}
			}
		}()
	}
}

func TestManyEchoes(t *testing.T) {
	for range 20 {
		l, err := Listen("127.0.0.1:0", &ListenOptions{NoCookies: true, Shards: 4})
		if err != nil {
			t.Fatal(err)
		}
		go echoServer(l)
		cl, _ := NewClient(nil)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		var wg, ready sync.WaitGroup
		ready.Add(64)
		for range 64 {
			wg.Go(func() {
				c, err := cl.Dial(ctx, l.Addr().String(), &DialOptions{MTU: 1400})
				if err != nil {
					t.Error(err)
					return
				}
				buf := make([]byte, 2000)
				for range 20 {
					if err := c.Send(context.Background(), []byte("\xfehello")); err != nil {
						t.Error(err)
					}
					c.SetReadDeadline(time.Now().Add(4*time.Second))
					if _, err := c.Recv(context.Background(), buf); err != nil {
						t.Errorf("%v %+v", err, c.Stats())
						for _, sh := range l.shards {
							for _, x := range sh.all() {
								if x.peer.Port() == c.local.Port() {
									t.Errorf("server half %v %+v polling %v", x.half, x.Stats(), sh.polling)
								}
							}
						}
						return
					}
				}
				ready.Done()
				ready.Wait()
				c.Close()
			})
		}
		wg.Wait()
		cancel()
		cl.Close()
		l.Close()
		if t.Failed() {
			return
		}
	}
}
