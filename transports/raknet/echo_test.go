//go:build linux

package raknet

import (
	"context"
	"testing"
	"time"
)

func TestDialOften(t *testing.T) {
	for range 2000 {
		l, err := Listen("127.0.0.1:0", &ListenOptions{NoCookies: true, MaxMTU: 1428})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				c, err := l.Accept(context.Background())
				if err != nil {
					return
				}
				go func() {
					buf := make([]byte, 2000)
					for {
						n, err := c.Recv(context.Background(), buf)
						if err != nil {
							return
						}
						if c.Send(context.Background(), buf[:n]) != nil {
							return
						}
					}
				}()
			}
		}()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		cl, _ := NewClient(nil)
		c, err := cl.Dial(ctx, l.Addr().String(), &DialOptions{Protocol: 10, MTU: 1428})
		if err != nil {
			panic(err)
		}
		buf := make([]byte, 2000)
		for range 10 {
			if err := c.Send(ctx, []byte("\xfehello")); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Recv(ctx, buf); err != nil {
				t.Logf("client %+v", c.Stats())
				for _, x := range l.shards[0].all() { t.Logf("server %+v half %v", x.Stats(), x.half) }
				t.Fatal(err)
			}
		}
		cancel()
		c.Close()
		cl.Close()
		l.Close()
	}
}
