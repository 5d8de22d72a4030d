package echo

import (
	"io"
	"sync/atomic"

	"transportbench/transports/wire"
)

// fault makes the server wrong on purpose, once, so that conformance can prove that the client notices. The first connection to
// reach the message in question gets it; message numbers count from 0 per connection.
type fault struct {
	kind    string
	at      int64 // the message that is flipped, repeated, dropped or sent after its successor; cut: the first one not echoed
	payload int
	spent   atomic.Bool
}

// newFault returns nil when the server is to behave. Except for cut@N the target is the middle of the burst, so that a window is
// open around it; a swap needs a successor within the burst.
func newFault(cfg wire.Config) *fault {
	f := &fault{kind: cfg.Fault, payload: cfg.Payload, at: int64(cfg.Warmup + cfg.Samples + cfg.Messages/2)}
	switch cfg.Fault {
	case wire.FaultNone:
		return nil
	case wire.FaultCut:
		f.at = int64(cfg.FaultAt)
	case wire.FaultSwap:
		f.at = int64(cfg.Warmup+cfg.Samples) + int64(max(0, min(cfg.Messages/2, cfg.Messages-2)))
	}
	return f
}

// echo is the loop of a faulty server. It uses the plain calls whatever -api says.
func (f *fault) echo(conn Conn) (sent int64, err error) {
	buf := make([]byte, f.payload)
	for received := int64(0); ; received++ {
		n, err := conn.Recv(buf)
		if err != nil {
			return sent, err
		}
		out := [][]byte{buf[:n]}
		if received == f.at && f.spent.CompareAndSwap(false, true) {
			if out, err = f.apply(conn, buf[:n]); err != nil {
				return sent, err
			}
		}
		for _, b := range out {
			if err := conn.Send(b); err != nil {
				return sent, err
			}
			sent++
		}
	}
}

// apply returns what is sent instead of the message; for a swap it first receives the next one.
func (f *fault) apply(conn Conn, msg []byte) ([][]byte, error) {
	switch f.kind {
	case wire.FaultFlip:
		msg[len(msg)-1] ^= 0x01
		return [][]byte{msg}, nil
	case wire.FaultRepeat:
		return [][]byte{msg, msg}, nil
	case wire.FaultDrop:
		return nil, nil
	case wire.FaultSwap:
		next := make([]byte, f.payload)
		n, err := conn.Recv(next)
		return [][]byte{next[:n], msg}, err
	default: // cut: the caller closes the connection
		return nil, io.EOF
	}
}
