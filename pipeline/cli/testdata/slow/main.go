// Command slow is the tcp driver with a client that works longer on every message: the share is set by the linker, as in -ldflags "-X main.share=0.43".
package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"transportbench/transports/echo"
	"transportbench/transports/tcp"
	"transportbench/transports/wire"
)

// share of the time between two messages that the client spends on top of it; 0.43 makes it about 30 % slower.
var share = "4"

func main() {
	f, err := strconv.ParseFloat(share, 64)
	if err != nil {
		os.Exit(1)
	}
	os.Exit(echo.Main(transport{tcp.New(), f}, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type transport struct {
	tcp.Transport
	share float64
}

func (t transport) Dial(ctx context.Context, cfg wire.Config, index int) (echo.Conn, error) {
	c, err := t.Transport.Dial(ctx, cfg, index)
	return &conn{Conn: c, share: t.share, last: time.Now()}, err
}

type conn struct {
	echo.Conn
	share float64
	last  time.Time // when the previous message was handed on
}

// most bounds one spin: a pause between two phases of the workload is no work.
const most = time.Millisecond

// Recv spins for a share of the time that everything else took since the previous message.
func (c *conn) Recv(b []byte) (int, error) {
	n, err := c.Conn.Recv(b)
	now := time.Now()
	until := now.Add(min(most, time.Duration(c.share*float64(now.Sub(c.last)))))
	for now.Before(until) {
		now = time.Now()
	}
	c.last = now
	return n, err
}
