// Package core is the RakNet protocol without any I/O: datagrams and the time go in, datagrams and messages come out.
// It reads no clock and draws no random number, so that a schedule of events always has the same result.
package core

// Buffer sizes of the pool in bytes. All are size classes of the Go allocator; 896 holds 800 B with its headers, 1408 a datagram
// of the nominal MTU 1428, 1536 one of 1492.
const classCount = 13

var classSize = [classCount]int{128, 256, 512, 896, 1152, 1408, 1536, 2048, 4096, 8192, 16384, 32768, 65536}

// maxPooled bounds the unused bytes that one class keeps.
const maxPooled = 16 << 20

// Pool hands out byte buffers and frames. All sessions of a shard share one, under the shard's lock.
type Pool struct {
	free   [classCount][][]byte
	frames *frame
	splits []*split // with empty tables
}

// Get returns a buffer of n bytes with undefined content. Sizes over 64 KiB are not pooled.
func (p *Pool) Get(n int) []byte {
	for c, size := range classSize {
		if n > size {
			continue
		}
		list := p.free[c]
		if len(list) == 0 {
			return make([]byte, n, size)
		}
		b := list[len(list)-1]
		list[len(list)-1] = nil
		p.free[c] = list[:len(list)-1]
		return b[:n]
	}
	return make([]byte, n)
}

// Put takes back a buffer of Get. A buffer that the pool did not make is left to the garbage collector.
func (p *Pool) Put(b []byte) {
	for c, size := range classSize {
		if cap(b) > size {
			continue
		}
		if cap(b) == size && len(p.free[c])*size < maxPooled {
			p.free[c] = append(p.free[c], b[:0])
		}
		return
	}
}

func (p *Pool) getFrame() *frame {
	f := p.frames
	if f == nil {
		return new(frame)
	}
	p.frames = f.next
	f.next = nil
	return f
}

func (p *Pool) putFrame(f *frame) {
	p.Put(f.head)
	*f = frame{next: p.frames}
	p.frames = f
}
