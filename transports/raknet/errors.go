//go:build linux

package raknet

import (
	"errors"
	"fmt"
	"net/netip"

	"transportbench/transports/raknet/internal/core"
)

// Reasons why a connection ended. Recv reports an orderly end by the peer as io.EOF.
var (
	ErrClosed     = core.ErrClosed    // by this side
	ErrPeerClosed = core.ErrPeerGone  // by the peer; only from calls that send
	ErrTimeout    = core.ErrTimeout   // nothing came from the peer for too long
	ErrDeadPeer   = core.ErrDead      // the peer sends but acknowledges nothing
	ErrViolation  = core.ErrViolation // the peer exceeded a limit of the protocol
	ErrReplaced   = core.ErrReplaced  // the peer opened another connection from the same address
)

// Reasons why one call failed; the connection goes on.
var (
	ErrTooLarge = core.ErrTooLarge // only reliable ordered messages may exceed MTU - 60
	ErrEmpty    = core.ErrEmpty
	ErrReserved = core.ErrReserved // the first byte is below 0x80
	ErrChannel  = core.ErrChannel
	ErrMTU      = core.ErrMTUReply
)

// ErrOption is an option or address that cannot be used.
var ErrOption = errors.New("option is out of range")

// RefusedError is a server's answer that it will not have the connection.
type RefusedError = core.RefusedError

// OpError says which operation failed with which peer. Unwrap gives one of the reasons above, a context's error,
// os.ErrDeadlineExceeded or an error of the operating system.
type OpError struct {
	Op   string // dial, send, receive, flush, accept, listen or ping
	Addr netip.AddrPort
	Err  error
}

func (e *OpError) Error() string { return fmt.Sprintf("raknet %s %s: %v", e.Op, e.Addr, e.Err) }

// Unwrap returns the reason.
func (e *OpError) Unwrap() error { return e.Err }

// Timeout says whether time ran out: a deadline, a context or a silent peer.
func (e *OpError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.Is(e.Err, ErrTimeout) || errors.Is(e.Err, ErrDeadPeer) || errors.As(e.Err, &t) && t.Timeout()
}
