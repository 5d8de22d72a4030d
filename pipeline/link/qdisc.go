package link

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
)

// Attributes of include/uapi/linux/rtnetlink.h and gen_stats.h.
const (
	tcaKind     = 1
	tcaOptions  = 2
	tcaStats2   = 7
	statsBasic  = 1 // struct gnet_stats_basic: bytes u64, packets u32
	statsQueue  = 3 // struct gnet_stats_queue: qlen, backlog, drops, requeues, overlimits
	statsPkt64  = 8
	tcMsgBytes  = 20 // struct tcmsg: family, pad, ifindex, handle, parent, info
	basicBytes  = 12
	queueBytes  = 20
	rootParent  = 0xffffffff // TC_H_ROOT
	netemHandle = 1 << 16    // 1:0
)

// qdisc is one queueing discipline as the kernel lists it.
type qdisc struct {
	ifindex int32
	parent  uint32
	kind    string
	options []byte
	packets int64 // that left it
	dropped int64
	waiting int64
	counted bool // the statistics were there
}

var errQdiscShort = errors.New("qdisc message is shorter than the kernel's structures")

// qdiscMessage names the root qdisc of an interface, with its settings where there are any.
func qdiscMessage(ifindex int32, options []byte) ([]byte, error) {
	b := words(0, uint32(ifindex), netemHandle, rootParent, 0)
	if options == nil {
		return b, nil
	}
	ae := netlink.NewAttributeEncoder()
	ae.String(tcaKind, BackendNetem)
	ae.Bytes(tcaOptions, options)
	attrs, err := ae.Encode()
	return append(b, attrs...), err
}

// parseQdisc reads the body of one RTM_NEWQDISC.
func parseQdisc(b []byte) (qdisc, error) {
	if len(b) < tcMsgBytes {
		return qdisc{}, errQdiscShort
	}
	q := qdisc{ifindex: int32(binary.NativeEndian.Uint32(b[4:])), parent: binary.NativeEndian.Uint32(b[12:])}
	ad, err := netlink.NewAttributeDecoder(b[tcMsgBytes:])
	if err != nil {
		return qdisc{}, fmt.Errorf("qdisc attributes: %w", err)
	}
	for ad.Next() {
		switch ad.Type() {
		case tcaKind:
			q.kind = ad.String()
		case tcaOptions:
			q.options = ad.Bytes()
		case tcaStats2:
			ad.Nested(q.statistics)
		}
	}
	return q, ad.Err()
}

// statistics reads the counters. Packets of 32 bits are replaced by those of 64 where the kernel has them; it sends them later.
func (q *qdisc) statistics(ad *netlink.AttributeDecoder) error {
	basic, queue := false, false
	for ad.Next() {
		v := ad.Bytes()
		switch ad.Type() {
		case statsBasic:
			if len(v) < basicBytes {
				return errQdiscShort
			}
			q.packets, basic = int64(binary.NativeEndian.Uint32(v[8:])), true
		case statsPkt64:
			if len(v) < 8 {
				return errQdiscShort
			}
			q.packets = int64(binary.NativeEndian.Uint64(v))
		case statsQueue:
			if len(v) < queueBytes {
				return errQdiscShort
			}
			q.waiting, q.dropped, queue = int64(binary.NativeEndian.Uint32(v)), int64(binary.NativeEndian.Uint32(v[8:])), true
		}
	}
	q.counted = basic && queue
	return ad.Err()
}
