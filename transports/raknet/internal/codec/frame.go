package codec

import "encoding/binary"

// Reliability is how one message travels.
type Reliability uint8

// The five modes. Modes 5 to 7 are 0, 2 and 3 with a receipt for the sender's application; on the wire they read as the base mode.
const (
	Unreliable Reliability = iota
	UnreliableSequenced
	Reliable
	ReliableOrdered
	ReliableSequenced
)

// Flag bits of datagrams and frames.
const (
	FlagValid      = 0x80
	FlagAck        = 0x40
	FlagNack       = 0x20
	FlagContinuous = 0x08
	HeaderFrames   = 0x84 // what most peers send
	HeaderFragment = 0x8c // fragments after the first
	flagSplit      = 0x10
	flagLow        = 0x0f
)

// Sizes in bytes.
const (
	DatagramHeader = 4
	MaxFrameHeader = 23
	MaxFrameBody   = 8191
	splitHeader    = 10
)

// What each of the eight wire modes carries.
const (
	carriesReliable = 1<<2 | 1<<3 | 1<<4 | 1<<6 | 1<<7
	carriesSequence = 1<<1 | 1<<4
	carriesOrder    = 1<<1 | 1<<3 | 1<<4 | 1<<7
)

// Frame is one frame of a datagram. Body aliases the datagram after Decode.
type Frame struct {
	Mode       Reliability // as on the wire, 0 to 7
	Low        byte        // lower flag bits, kept as they came
	Split      bool
	Index      uint32 // reliable index
	Sequence   uint32
	Order      uint32
	Channel    uint8
	SplitCount uint32
	SplitID    uint16
	SplitIndex uint32
	Body       []byte
}

// IsReliable says whether f carries a reliable index.
func (f *Frame) IsReliable() bool { return carriesReliable>>f.Mode&1 == 1 }

// IsSequenced says whether f carries a sequence index.
func (f *Frame) IsSequenced() bool { return carriesSequence>>f.Mode&1 == 1 }

// IsOrdered says whether f is to be delivered in order, every one.
func (f *Frame) IsOrdered() bool { return f.Mode == ReliableOrdered || f.Mode == 7 }

// HeaderSize is the size in bytes of a frame header of this mode.
func HeaderSize(mode Reliability, split bool) int {
	n := 3
	if carriesReliable>>mode&1 == 1 {
		n += 3
	}
	if carriesSequence>>mode&1 == 1 {
		n += 3
	}
	if carriesOrder>>mode&1 == 1 {
		n += 4
	}
	if split {
		n += splitHeader
	}
	return n
}

// AppendHeader appends everything of f but the body, announcing a body of size bytes.
func (f *Frame) AppendHeader(b []byte, size int) []byte {
	flags := byte(f.Mode)<<5 | f.Low
	if f.Split {
		flags |= flagSplit
	}
	b = append(b, flags, byte(size>>5), byte(size<<3))
	if f.IsReliable() {
		b = append24(b, f.Index)
	}
	if f.IsSequenced() {
		b = append24(b, f.Sequence)
	}
	if carriesOrder>>f.Mode&1 == 1 {
		b = append(append24(b, f.Order), f.Channel)
	}
	if f.Split {
		b = binary.BigEndian.AppendUint32(b, f.SplitCount)
		b = binary.BigEndian.AppendUint16(b, f.SplitID)
		b = binary.BigEndian.AppendUint32(b, f.SplitIndex)
	}
	return b
}

// Append appends f to b.
func (f *Frame) Append(b []byte) []byte {
	return append(f.AppendHeader(b, len(f.Body)), f.Body...)
}

// Decode reads the first frame of b and returns the rest of b. A length in bits that is no multiple of eight is rounded up.
func (f *Frame) Decode(b []byte) ([]byte, error) {
	if len(b) < 3 {
		return nil, ErrShort
	}
	flags := b[0]
	f.Mode, f.Low, f.Split = Reliability(flags>>5), flags&flagLow, flags&flagSplit != 0
	size := (int(binary.BigEndian.Uint16(b[1:])) + 7) >> 3
	head := HeaderSize(f.Mode, f.Split)
	if size == 0 {
		return nil, ErrInvalid
	}
	if len(b) < head+size {
		return nil, ErrShort
	}
	rest := b[3:]
	f.Index, f.Sequence, f.Order, f.Channel = 0, 0, 0, 0
	if f.IsReliable() {
		f.Index, rest = Uint24(rest), rest[3:]
	}
	if f.IsSequenced() {
		f.Sequence, rest = Uint24(rest), rest[3:]
	}
	if carriesOrder>>f.Mode&1 == 1 {
		f.Order, f.Channel, rest = Uint24(rest), rest[3], rest[4:]
	}
	f.Body = b[head : head+size : head+size]
	return b[head+size:], f.decodeSplit(rest)
}

func (f *Frame) decodeSplit(b []byte) error {
	f.SplitCount, f.SplitID, f.SplitIndex = 0, 0, 0
	if !f.Split {
		return nil
	}
	f.SplitCount = binary.BigEndian.Uint32(b)
	f.SplitID = binary.BigEndian.Uint16(b[4:])
	f.SplitIndex = binary.BigEndian.Uint32(b[6:])
	if f.SplitCount == 0 || f.SplitIndex >= f.SplitCount {
		return ErrInvalid
	}
	return nil
}

func append24(b []byte, v uint32) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16)) }

// AppendDatagram appends the header of a frame datagram.
func AppendDatagram(b []byte, flags byte, number uint32) []byte {
	return append24(append(b, flags), number)
}

// Datagram splits b into its number and its frames.
func Datagram(b []byte) (number uint32, frames []byte, err error) {
	if len(b) <= DatagramHeader {
		return 0, nil, ErrShort
	}
	if b[0]&FlagValid == 0 || b[0]&(FlagAck|FlagNack) != 0 {
		return 0, nil, ErrInvalid
	}
	return Uint24(b[1:]), b[DatagramHeader:], nil
}
