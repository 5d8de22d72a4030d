package codec

import (
	"encoding/binary"
	"net/netip"
)

// Identifiers of control messages, carried in frames. User messages start at IDUser.
const (
	IDConnectedPing  = 0x00
	IDConnectedPong  = 0x03
	IDDetectLost     = 0x04
	IDConnRequest    = 0x09
	IDConnAccepted   = 0x10
	IDNewIncoming    = 0x13
	IDDisconnect     = 0x15
	IDUser           = 0x80
	systemAddresses  = 10 // protocol 10 and its Rust implementation send ten; readers take what is there
	sizeConnRequest  = 18
	sizeTimes        = 16
	maxSystemAddress = 64
)

// EmptyAddr fills unused system addresses.
var EmptyAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{}), 0)

// ConnPing is a connected ping; the times of a side are milliseconds of a clock of its own.
type ConnPing struct{ Time int64 }

// Append appends p to b.
func (p ConnPing) Append(b []byte) []byte {
	return binary.BigEndian.AppendUint64(append(b, IDConnectedPing), uint64(p.Time))
}

// Decode reads p from the body of a frame.
func (p *ConnPing) Decode(b []byte) error {
	if len(b) < 9 {
		return ErrShort
	}
	p.Time = i64(b[1:])
	return nil
}

// ConnPong answers a ConnPing.
type ConnPong struct{ Ping, Pong int64 }

// Append appends p to b.
func (p ConnPong) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, IDConnectedPong), uint64(p.Ping))
	return binary.BigEndian.AppendUint64(b, uint64(p.Pong))
}

// Decode reads p from the body of a frame.
func (p *ConnPong) Decode(b []byte) error {
	if len(b) < 17 {
		return ErrShort
	}
	p.Ping, p.Pong = i64(b[1:]), i64(b[9:])
	return nil
}

// ConnRequest is the first message of a client inside the connection.
type ConnRequest struct {
	GUID   int64
	Time   int64
	Secure bool
}

// Append appends r to b.
func (r ConnRequest) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, IDConnRequest), uint64(r.GUID))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Time))
	return append(b, flag(r.Secure))
}

// Decode reads r from the body of a frame.
func (r *ConnRequest) Decode(b []byte) error {
	if len(b) < sizeConnRequest {
		return ErrShort
	}
	*r = ConnRequest{GUID: i64(b[1:]), Time: i64(b[9:]), Secure: b[17] != 0}
	return nil
}

// ConnAccepted answers a ConnRequest.
type ConnAccepted struct {
	Client      netip.AddrPort
	SystemIndex uint16
	Systems     Systems
	RequestTime int64
	AcceptTime  int64
}

// Append appends a to b.
func (a *ConnAccepted) Append(b []byte) []byte {
	b = AppendAddr(append(b, IDConnAccepted), a.Client)
	b = binary.BigEndian.AppendUint16(b, a.SystemIndex)
	return appendTimes(a.Systems.append(b), a.RequestTime, a.AcceptTime)
}

// Decode reads a from the body of a frame.
func (a *ConnAccepted) Decode(b []byte) error {
	if len(b) < 1 {
		return ErrShort
	}
	addr, n, err := Addr(b[1:])
	if err != nil {
		return err
	}
	rest := b[1+n:]
	if len(rest) < 2+sizeTimes {
		return ErrShort
	}
	a.Client, a.SystemIndex = addr, binary.BigEndian.Uint16(rest)
	rest, err = a.Systems.decode(rest[2:])
	if err != nil {
		return err
	}
	a.RequestTime, a.AcceptTime = i64(rest), i64(rest[8:])
	return nil
}

// NewIncoming is a client's last word of the handshake.
type NewIncoming struct {
	Server      netip.AddrPort
	Systems     Systems
	RequestTime int64
	AcceptTime  int64
}

// Append appends n to b.
func (n *NewIncoming) Append(b []byte) []byte {
	b = AppendAddr(append(b, IDNewIncoming), n.Server)
	return appendTimes(n.Systems.append(b), n.RequestTime, n.AcceptTime)
}

// Decode reads n from the body of a frame.
func (n *NewIncoming) Decode(b []byte) error {
	if len(b) < 1 {
		return ErrShort
	}
	addr, used, err := Addr(b[1:])
	if err != nil {
		return err
	}
	n.Server = addr
	rest, err := n.Systems.decode(b[1+used:])
	if err != nil {
		return err
	}
	n.RequestTime, n.AcceptTime = i64(rest), i64(rest[8:])
	return nil
}

// Systems is the list of a peer's own addresses; Count of them are in use.
type Systems struct {
	Count int
	Addr  [maxSystemAddress]netip.AddrPort
}

// Fillers is the list that peers without addresses to tell send.
func Fillers() (s Systems) {
	s.Count = systemAddresses
	for i := range s.Count {
		s.Addr[i] = EmptyAddr
	}
	return s
}

func (s *Systems) append(b []byte) []byte {
	for _, a := range s.Addr[:s.Count] {
		b = AppendAddr(b, a)
	}
	return b
}

// decode reads addresses until only the two times are left and returns those 16 bytes.
func (s *Systems) decode(b []byte) ([]byte, error) {
	s.Count = 0
	for len(b) > sizeTimes {
		if s.Count == maxSystemAddress {
			return nil, ErrInvalid
		}
		a, n, err := Addr(b)
		if err != nil {
			return nil, err
		}
		s.Addr[s.Count] = a
		s.Count++
		b = b[n:]
	}
	if len(b) < sizeTimes {
		return nil, ErrShort
	}
	return b, nil
}

func appendTimes(b []byte, request, accept int64) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(request))
	return binary.BigEndian.AppendUint64(b, uint64(accept))
}
