package nfqueue

import (
	"encoding/binary"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

const (
	copyRange   = 64      // bytes of each packet shown to us: the longest IPv4 header and the ports
	readBuffer  = 4 << 20 // bytes wanted; without privileges over the machine the kernel caps it at rmem_max
	copyPacket  = 2       // NFQNL_COPY_PACKET
	commandBind = 1       // NFQNL_CFG_CMD_BIND
)

// Attributes of NFQNL_MSG_CONFIG.
const (
	configCommand = 1
	configParams  = 2
	configMaxLen  = 3
)

// queue is one bound queue with a socket of its own, so that a burst of one direction cannot fill the buffer of another.
type queue struct {
	number uint16
	conn   *netlink.Conn
	fd     int // of conn, valid until conn is closed
	held   pile
}

// bind claims a queue number in the current network namespace. The flags for fail-open and for whole GSO packets stay off:
// an overflowing packet must be a counted drop, and a batch must be split into datagrams before it is judged.
func bind(number uint16, o Options) (*queue, error) {
	conn, err := netlink.Dial(unix.NETLINK_NETFILTER, nil)
	if err != nil {
		return nil, fmt.Errorf("netfilter netlink not opened: %w", err)
	}
	q := &queue{number: number, conn: conn, held: pile{sorted: !o.Ordered}}
	if err := q.configure(o.Limit); err != nil {
		conn.Close()
		return nil, fmt.Errorf("queue %d not bound: %w", number, err)
	}
	return q, nil
}

func (q *queue) configure(limit int) error {
	if err := q.conn.SetReadBuffer(readBuffer); err != nil {
		return fmt.Errorf("receive buffer not set: %w", err)
	}
	bindTo := []byte{commandBind, 0, 0, 0}
	params := append(binary.BigEndian.AppendUint32(nil, copyRange), copyPacket)
	for _, attr := range []netlink.Attribute{
		{Type: configCommand, Data: bindTo},
		{Type: configParams, Data: params},
		{Type: configMaxLen, Data: binary.BigEndian.AppendUint32(nil, uint32(limit))},
	} {
		if err := q.config(attr); err != nil {
			return err
		}
	}
	// Without this a full socket buffer also fails our next read; the kernel counts the lost packets either way.
	if err := q.conn.SetOption(netlink.NoENOBUFS, true); err != nil {
		return fmt.Errorf("overrun errors not switched off: %w", err)
	}
	raw, err := q.conn.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { q.fd = int(fd) })
}

func (q *queue) config(attr netlink.Attribute) error {
	data, err := netlink.MarshalAttributes([]netlink.Attribute{attr})
	if err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint16([]byte{unix.AF_UNSPEC, 0}, q.number)
	_, err = q.conn.Execute(netlink.Message{
		Header: netlink.Header{Type: msgConfig, Flags: netlink.Request | netlink.Acknowledge},
		Data:   append(head, data...),
	})
	return err
}

// read returns the next message body and its type; ok is false when nothing waits.
func (q *queue) read(buf []byte) (kind uint16, body []byte, ok bool, err error) {
	n, err := unix.Read(q.fd, buf)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR || err == unix.ENOBUFS:
		return 0, nil, false, nil
	case err != nil:
		return 0, nil, false, fmt.Errorf("queue %d not read: %w", q.number, err)
	case n < nlHeader:
		return 0, nil, false, errShort
	}
	size := int(binary.NativeEndian.Uint32(buf))
	if size < nlHeader || size > n {
		return 0, nil, false, errShort
	}
	return binary.NativeEndian.Uint16(buf[4:]), buf[nlHeader:size], true, nil
}
