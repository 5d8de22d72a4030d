// Command paced is the tcp driver with a client that takes a fixed time for every message, so that a test knows its throughput however
// busy the machine is. The linker sets the period, as in -ldflags "-X main.period=2ms".
package main

import (
	"context"
	"os"
	"sync"
	"time"

	"transportbench/transports/echo"
	"transportbench/transports/tcp"
	"transportbench/transports/wire"
)

var period = "1ms"

func main() {
	p, err := time.ParseDuration(period)
	if err != nil {
		os.Exit(1)
	}
	os.Exit(echo.Main(transport{tcp.New(), p}, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type transport struct {
	tcp.Transport
	period time.Duration
}

func (t transport) Dial(ctx context.Context, cfg wire.Config, index int) (echo.Conn, error) {
	c, err := t.Transport.Dial(ctx, cfg, index)
	return &conn{Conn: c, period: t.period}, err
}

type conn struct {
	echo.Conn
	period time.Duration

	mu     sync.Mutex
	flying int
	due    time.Time // of the next echo
}

// Send starts the schedule afresh when nothing is under way: a pause between two phases of the workload earns no credit.
func (c *conn) Send(b []byte) error {
	c.mu.Lock()
	if c.flying == 0 {
		c.due = time.Now()
	}
	c.flying++
	c.mu.Unlock()
	return c.Conn.Send(b)
}

// Recv hands an echo on when it is due. The schedule is absolute, so late wake-ups do not add up.
func (c *conn) Recv(b []byte) (int, error) {
	n, err := c.Conn.Recv(b)
	c.mu.Lock()
	c.flying--
	c.due = c.due.Add(c.period)
	due := c.due
	c.mu.Unlock()
	time.Sleep(time.Until(due))
	return n, err
}
