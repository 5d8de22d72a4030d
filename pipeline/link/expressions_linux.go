package link

import (
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// Offsets of the ports in the TCP and UDP header.
const (
	payloadSport = 0
	payloadDport = 2
)

// portIs jumps to a chain. A later fragment has no ports and matches nothing.
func portIs(offset uint32, port uint16, chain string) []expr.Any {
	return []expr.Any{
		&expr.Payload{DestRegister: reg, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: reg, Data: binaryutil.BigEndian.PutUint16(port)},
		jump(chain),
	}
}

// jump is a goto: the packet does not come back.
func jump(chain string) expr.Any { return &expr.Verdict{Kind: expr.VerdictGoto, Chain: chain} }

func count(name string) expr.Any { return &expr.Objref{Type: unix.NFT_OBJECT_COUNTER, Name: name} }

// longer counts packets above the MTU; the length is in host order and must be turned before it can be compared.
func longer(mtu int, counter string) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyLEN, Register: reg},
		&expr.Byteorder{SourceRegister: reg, DestRegister: reg, Op: expr.ByteorderHton, Len: 4, Size: 4},
		&expr.Cmp{Op: expr.CmpOpGt, Register: reg, Data: binaryutil.BigEndian.PutUint32(uint32(mtu))},
		count(counter),
	}
}
