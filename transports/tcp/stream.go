package tcp

import (
	"io"
	"net"
	"runtime"

	"transportbench/transports/wire"
)

// stream is a connected socket: a *net.TCPConn, waited for by the runtime's poller, or a *direct, in the kernel. The former stands
// here bare: a wrapper's frame in each read made the stacks of a thousand clients twice as large.
type stream = io.ReadWriteCloser

// controller lends its descriptor to f.
type controller interface {
	Control(f func(fd uintptr)) error
}

// readFull fills b; the end of the stream is io.EOF before its first byte and io.ErrUnexpectedEOF within.
func readFull(s stream, b []byte) error {
	for got := 0; got < len(b); {
		n, err := s.Read(b[got:])
		got += n
		switch {
		case got == len(b):
			return nil
		case err == io.EOF && got > 0:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	return nil
}

// waiting decides how a connection waits.
type waiting struct {
	direct *direct // nil: always in the poller
	rounds int     // reader only: messages until the connection goes back to the poller; negative: never
}

// newWaiting takes c out of the poller in the suites of one connection.
//
// A client goes back to the poller when its rounds are over: the burst has a second goroutine, which needs the processor while the
// first one waits, and the records that come in during the poller's longer way are then read without a wait each. A server stays,
// having one goroutine, except for a measured burst on its only processor, where that saving counts more (docs/baselines.md).
func newWaiting(c *net.TCPConn, cfg wire.Config) (stream, waiting, error) {
	if cfg.Suite != wire.SuiteSingle && cfg.Suite != wire.SuiteSparse {
		return c, waiting{}, nil
	}
	d, err := newDirect(c)
	if err != nil {
		return nil, waiting{}, err
	}
	w := waiting{direct: d, rounds: cfg.Warmup + cfg.Samples}
	if cfg.Role == wire.RoleServer && (cfg.Suite == wire.SuiteSparse || runtime.GOMAXPROCS(0) > 1) {
		w.rounds = -1
	}
	return d, w, nil
}

// next is called by the reader before each message.
func (w *waiting) next() error {
	if w.direct == nil || w.rounds < 0 {
		return nil
	}
	w.rounds--
	if w.rounds >= 0 {
		return nil
	}
	return w.direct.repoll()
}
