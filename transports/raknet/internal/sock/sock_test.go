//go:build linux

package sock

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var loopback = netip.MustParseAddrPort("127.0.0.1:0")

// sockets returns two bound sockets, the second connected to the first, and the first one's address.
func sockets(t *testing.T) (server, client int, addr netip.AddrPort) {
	t.Helper()
	open := func() int {
		fd, err := Open(loopback, Options{RcvBuf: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { Close(fd) })
		return fd
	}
	server, client = open(), open()
	addr, err := Local(server)
	if err == nil {
		err = Connect(client, addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return server, client, addr
}

func body(size, n int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(i + n)
	}
	return b
}

// received reads everything that is there.
func received(fd int) (all []string) {
	r := NewReceiver(8)
	for n := r.Receive(fd); n > 0; n = r.Receive(fd) {
		for i := range n {
			b, _, _ := r.Datagram(i)
			all = append(all, string(b))
		}
	}
	return all
}

// TestSegmentedSends sends datagrams of several sizes in one batch, with a kernel that refuses segmentation in various ways.
func TestSegmentedSends(t *testing.T) {
	for name, refuse := range map[string]unix.Errno{"accepted": 0, "EIO": unix.EIO, "EINVAL": unix.EINVAL, "EMSGSIZE": unix.EMSGSIZE} {
		server, client, _ := sockets(t)
		s := &Sender{GSO: true}
		s.call = func(fd int, msgs []mmsghdr) (int, unix.Errno) {
			for i := range msgs {
				if refuse != 0 && msgs[i].hdr.Controllen > 0 {
					if i == 0 {
						return -1, refuse
					}
					return sendmmsg(fd, msgs[:i])
				}
			}
			return sendmmsg(fd, msgs)
		}
		var want []string
		for i, size := range []int{100, 800, 800, 800, 300, 64, 64, 64, 900} {
			b := body(size, i)
			want = append(want, string(b))
			s.Add(client, b[:10], b[10:], nil)
		}
		s.Flush(client)
		if got := received(server); !slices.Equal(got, want) {
			t.Errorf("%s: %d datagrams arrived, %d were sent, or they differ", name, len(got), len(want))
		}
		if s.GSO != (refuse == 0) || s.Lost.Load() != 0 {
			t.Errorf("%s: gso %v, %d lost", name, s.GSO, s.Lost.Load())
		}
	}
}

func TestPassingErrors(t *testing.T) {
	server, client, _ := sockets(t)
	for name, c := range map[string]struct {
		err  unix.Errno
		n    int
		lost int64
	}{
		"EPERM once": {unix.EPERM, 1, 0}, "EPERM twice": {unix.EPERM, 2, 1}, "ECONNREFUSED": {unix.ECONNREFUSED, 1, 0},
		"EINTR": {unix.EINTR, 3, 0}, "EAGAIN": {unix.EAGAIN, 2, 0}, "EMSGSIZE": {unix.EMSGSIZE, 1, 1},
	} {
		s, left := new(Sender), c.n
		s.call = func(fd int, msgs []mmsghdr) (int, unix.Errno) {
			if left--; left >= 0 {
				return -1, c.err
			}
			return sendmmsg(fd, msgs)
		}
		s.Add(client, body(50, 0), nil, nil)
		s.Add(client, body(60, 0), nil, nil)
		s.Flush(client)
		if got := int64(len(received(server))); s.Lost.Load() != c.lost || got != 2-c.lost {
			t.Errorf("%s: %d lost, %d arrived", name, s.Lost.Load(), got)
		}
	}
}

func TestManyDatagramsInOneFlush(t *testing.T) {
	server, client, _ := sockets(t)
	s := new(Sender)
	var want []string
	for i := range 3*sendBatch + 5 {
		b := body(40+i%7, i)
		want = append(want, string(b))
		s.Add(client, b, nil, nil)
	}
	s.Flush(client)
	if got := received(server); !slices.Equal(got, want) {
		t.Errorf("%d datagrams arrived, %d were sent", len(got), len(want))
	}
}

func TestLargeDatagramIsCut(t *testing.T) {
	server, client, _ := sockets(t)
	new(Sender).One(client, body(SlotSize+1, 0), nil)
	r := NewReceiver(4)
	if n := r.Receive(server); n != 1 {
		t.Fatalf("%d datagrams", n)
	}
	if b, _, cut := r.Datagram(0); !cut || len(b) != SlotSize {
		t.Errorf("%d bytes, cut %v", len(b), cut)
	}
}

func TestAddresses(t *testing.T) {
	server, client, _ := sockets(t)
	local, err := Local(client)
	if err != nil {
		t.Fatal(err)
	}
	new(Sender).One(client, body(10, 0), nil)
	r := NewReceiver(1)
	if r.Receive(server) != 1 {
		t.Fatal("nothing came")
	}
	_, from, _ := r.Datagram(0)
	made := FromAddrPort(local, unix.AF_INET)
	if from.AddrPort() != local || from.Key() != made.Key() {
		t.Errorf("from %s, key %+v; want %s, %+v", from.AddrPort(), from.Key(), local, made.Key())
	}
	for _, s := range []string{"[2001:db8::1]:5", "192.0.2.1:6"} { // an IPv6 socket sees IPv4 as mapped
		ap := netip.MustParseAddrPort(s)
		a := FromAddrPort(ap, unix.AF_INET6)
		if a.AddrPort() != ap {
			t.Errorf("%s became %s", ap, a.AddrPort())
		}
	}
}

func TestKickEndsAWait(t *testing.T) {
	w, err := NewWaiter()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	other, err := NewWaiter()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	server, client, _ := sockets(t)
	for _, procs := range []int32{8, 0} { // in the kernel, and in the runtime's poller
		w.procs = procs
		w.Kick()
		w.Wait(server, -1)
		done := make(chan struct{})
		go func() { w.Wait(server, -1); close(done) }()
		w.Kick()
		<-done
		new(Sender).One(client, body(9, 0), nil)
		w.Wait(server, -1)
		if len(received(server)) != 1 {
			t.Error("Wait returned without a datagram")
		}
		w.Wait(server, 1000) // the time ends it
		if err := w.Add(server, 3); err != nil {
			t.Fatal(err)
		}
		new(Sender).One(client, body(9, 0), nil)
		w.Wait(-1, -1)
		found := false
		for i := range w.Ready() {
			found = found || w.Event(i) == 3
		}
		if !found || len(received(server)) != 1 {
			t.Error("the epoll set did not name the socket")
		}
		w.Remove(server)
	}
}

// TestLastProcessorIsLeft: only a Waiter without company may sleep with the only processor.
func TestLastProcessorIsLeft(t *testing.T) {
	server, client, _ := sockets(t)
	sleeps := func(w *Waiter) bool {
		done := make(chan struct{})
		go func() { w.Wait(server, -1); close(done) }()
		slept := false
		for range 100 {
			time.Sleep(time.Millisecond)
			slept = slept || asleep.Load() > 0
		}
		new(Sender).One(client, body(9, 0), nil)
		<-done
		received(server)
		return slept
	}
	w, err := NewWaiter()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.procs = 1
	if !sleeps(w) {
		t.Error("the only waiter did not sleep in the kernel")
	}
	other, err := NewWaiter()
	if err != nil {
		t.Fatal(err)
	}
	if sleeps(w) {
		t.Error("one of two waiters slept in the kernel with the only processor")
	}
	other.Close()
	if !sleeps(w) {
		t.Error("the waiter that is left did not sleep in the kernel")
	}
}
