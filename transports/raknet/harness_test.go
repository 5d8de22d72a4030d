//go:build linux

package raknet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"
)

// patience bounds waits that end at once unless something is broken.
const patience = 20 * time.Second

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

func listen(t testing.TB, o *ListenOptions) *Listener {
	t.Helper()
	l, err := Listen("127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func client(t testing.TB, o *Tuning) *Client {
	t.Helper()
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func dial(t testing.TB, c *Client, l *Listener, o *DialOptions) *Conn {
	t.Helper()
	conn, err := c.Dial(soon(t), l.Addr().String(), o)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// pair returns both ends of a connection.
func pair(t testing.TB, lo *ListenOptions, do *DialOptions) (cli, srv *Conn, l *Listener) {
	t.Helper()
	l = listen(t, lo)
	cli = dial(t, client(t, nil), l, do)
	srv, err := l.Accept(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	return cli, srv, l
}

// serveEchoes echoes on every connection of l until l is closed; the reader of messages that start with 0xff never reads on.
func serveEchoes(l *Listener) {
	for {
		c, err := l.Accept(context.Background())
		if err != nil {
			return
		}
		go echo(c)
	}
}

func echo(c *Conn) {
	buf := make([]byte, 64<<10)
	for {
		n, err := c.Recv(context.Background(), buf)
		if err != nil || c.Send(context.Background(), buf[:n]) != nil {
			return
		}
	}
}

// message is content that follows from its size and number.
func message(size, n int) []byte {
	b := make([]byte, size)
	b[0] = 0xfe
	for i := 1; i < size; i++ {
		b[i] = byte(7*i + n)
	}
	return b
}

// exchange sends messages of the sizes and expects their echoes.
func exchange(t testing.TB, c *Conn, sizes ...int) {
	t.Helper()
	buf := make([]byte, 64<<10)
	for i, size := range sizes {
		want := message(size, i)
		if err := c.Send(soon(t), want); err != nil {
			t.Fatal(err)
		}
		n, err := c.Recv(soon(t), buf)
		if err != nil || string(buf[:n]) != string(want) {
			t.Fatalf("echo of %d B: %d B, %v, %+v", size, n, err, c.Stats())
		}
	}
}

// stranger is a plain socket.
func stranger(t testing.TB, to netip.AddrPort) *net.UDPConn {
	t.Helper()
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
}
