package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/host"
	"transportbench/pipeline/link"
)

// maxMessage bounds one message between bench and holder, in bytes. It stays under the default net.core.wmem_default
// (212,992), because a SOCK_SEQPACKET message has to fit into the send buffer whole.
const maxMessage = 128 << 10

// maxFDs is the number of descriptors that ride on one message: standard input, output and error of a driver.
const maxFDs = 3

// Operations of the holder.
const (
	opOpen     = "open"
	opProbe    = "probe"
	opStart    = "start"
	opSignal   = "signal"
	opKill     = "kill"
	opCounters = "counters"
	opHost     = "host"
	opThreads  = "threads"
)

// request asks the holder for one operation.
type request struct {
	ID     uint64        `json:"id"` // from 1
	Op     string        `json:"op"`
	Open   *EnvSpec      `json:"open,omitempty"`
	Start  *startRequest `json:"start,omitempty"`
	Proc   int           `json:"proc,omitempty"` // launch's pid in the holder's namespace
	Signal int           `json:"signal,omitempty"`
	Full   bool          `json:"full,omitempty"`      // host: the network's settings as well as the drivers
	Box    string        `json:"container,omitempty"` // threads: id of the driver's container, in place of Proc
}

// startRequest is one launch invocation; its standard streams ride on the message.
type startRequest struct {
	Argv []string `json:"argv"` // absolute path of launch first
}

// reply answers the request of the same ID; ID 0 is the news that a process has ended.
type reply struct {
	ID       uint64            `json:"id"`
	Error    *replyError       `json:"error,omitempty"`
	Proc     int               `json:"proc,omitempty"`
	Status   int               `json:"status,omitempty"` // launch's wait status as the kernel encodes it
	State    *link.State       `json:"state,omitempty"`
	Counters *link.Counters    `json:"counters,omitempty"`
	Host     *host.Report      `json:"host,omitempty"` // the part that only the inside can tell
	Threads  []Thread          `json:"threads,omitempty"`
	Links    []link.Capability `json:"links,omitempty"`
	Facts    *boxFacts         `json:"facts,omitempty"` // probe of a container: what bench cannot see from where it runs
}

// replyError carries an error and its kind through JSON.
type replyError struct {
	Text        string `json:"text"`
	Unsupported bool   `json:"unsupported,omitempty"`
	Fix         string `json:"fix,omitempty"`
}

func (e *replyError) err() error {
	switch {
	case e == nil:
		return nil
	case e.Unsupported:
		// Callers may look for either type: it is the link's error once more.
		return &UnsupportedError{What: e.Text, Fix: e.Fix, Err: &link.UnsupportedError{Missing: e.Text, Fix: e.Fix}}
	}
	return errors.New(e.Text)
}

// messenger carries whole JSON messages between bench and a holder: a socket pair, or the standard streams of a container.
type messenger interface {
	// write sends one message; files stay open and owned by the caller. Not every messenger takes files.
	write(msg []byte, files []*os.File) error
	// read returns the next message, valid until the next read, and the descriptors beside it, which the caller then owns.
	// io.EOF: the peer is gone.
	read() ([]byte, []int, error)
	close() error
}

// channel is one end of the socket pair: whole JSON messages with descriptors beside them.
type channel struct {
	conn *net.UnixConn
	send sync.Mutex // one message at a time, so that a full buffer cannot mix two
	buf  []byte
}

// socketPair returns both ends: ours ready for use, the holder's as a file to inherit.
func socketPair() (*channel, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socket pair: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "holder")
	ours := os.NewFile(uintptr(fds[0]), "bench")
	ch, err := newChannel(ours)
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ch, theirs, nil
}

// newChannel takes ownership of f.
func newChannel(f *os.File) (*channel, error) {
	conn, err := net.FileConn(f)
	f.Close()
	if err != nil {
		return nil, fmt.Errorf("holder socket: %w", err)
	}
	uc, ok := conn.(*net.UnixConn)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("holder socket: %T is not a unix socket", conn)
	}
	return &channel{conn: uc, buf: make([]byte, maxMessage)}, nil
}

func (c *channel) write(msg []byte, files []*os.File) error {
	if len(msg) > maxMessage {
		return fmt.Errorf("holder message: %d bytes are over the limit of %d", len(msg), maxMessage)
	}
	var oob []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		oob = unix.UnixRights(fds...)
	}
	c.send.Lock()
	defer c.send.Unlock()
	_, _, err := c.conn.WriteMsgUnix(msg, oob, nil)
	return err
}

func (c *channel) read() ([]byte, []int, error) {
	oob := make([]byte, unix.CmsgSpace(maxFDs*4))
	n, oobn, flags, _, err := c.conn.ReadMsgUnix(c.buf, oob)
	if err != nil {
		if errors.Is(err, unix.ECONNRESET) {
			err = io.EOF
		}
		return nil, nil, err
	}
	fds, err := rights(oob[:oobn])
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = fmt.Errorf("holder message: cut at %d bytes", n)
	}
	if err != nil {
		closeAll(fds)
		return nil, nil, err
	}
	return c.buf[:n], fds, nil
}

func rights(oob []byte) ([]int, error) {
	if len(oob) == 0 {
		return nil, nil
	}
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("holder message: control data: %w", err)
	}
	var all []int
	for i := range msgs {
		fds, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return all, fmt.Errorf("holder message: descriptors: %w", err)
		}
		all = append(all, fds...)
	}
	return all, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = unix.Close(fd)
	}
}

func (c *channel) close() error { return c.conn.Close() }
