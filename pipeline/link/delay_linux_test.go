package link

import (
	"encoding/binary"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/matrix"
)

// trips is how often each time is taken.
const trips = 300

// TestNetemDelay wants twice the one-way delay within 2 %, beside what the machine itself needs for it: the same way without delay,
// and how late a timer of that length fires, which netem waits with. Each way ends with the kernel's receive timestamp, so that
// how soon a sleeping process wakes on a busy or emulated processor is not taken for the link. The shortest of many is the link.
func TestNetemDelay(t *testing.T) {
	inNetem(t, func(t *testing.T) {
		const oneWay = 5 * time.Millisecond
		base := measureWays(t, matrix.LinkSpec{})
		late := timerLateness(t, oneWay)
		delayed := measureWays(t, matrix.LinkSpec{DelayNS: oneWay})
		most := 2*oneWay + 2*oneWay/50 + base.shortest() + 2*late[0]
		t.Logf("both ways: %s without delay, a timer is late by %s, %s with delay, want %s to %s", base.shortest(), late[0], delayed.shortest(), 2*oneWay, most)
		t.Logf("as processes see it: median round trip %s without delay, %s with delay", base.median(), delayed.median())
		if got := delayed.shortest(); got < 2*oneWay || got > most {
			t.Errorf("both ways take %s, want %s to %s", got, 2*oneWay, most)
		}
	})
}

// ways are sorted times of the two directions up to the receiver's socket, and of whole round trips up to the process.
type ways struct{ there, back, whole []time.Duration }

func (w ways) shortest() time.Duration { return w.there[0] + w.back[0] }
func (w ways) median() time.Duration   { return w.whole[len(w.whole)/2] }

// measureWays sends one datagram at a time there and back.
func measureWays(t *testing.T, spec matrix.LinkSpec) (w ways) {
	t.Helper()
	a := mustApply(t, spec, BackendNetem)
	defer mustClose(t, a)
	server, client := stampedSocket(t, testPort, 20000), stampedSocket(t, 20000, testPort)
	defer unix.Close(server)
	defer unix.Close(client)
	for range trips {
		begin := clock(t, unix.CLOCK_MONOTONIC)
		w.there = append(w.there, oneWay(t, client, server))
		w.back = append(w.back, oneWay(t, server, client))
		w.whole = append(w.whole, clock(t, unix.CLOCK_MONOTONIC)-begin)
	}
	for _, s := range [][]time.Duration{w.there, w.back, w.whole} {
		slices.Sort(s)
	}
	return w
}

// oneWay is the time from just before a send to the kernel's timestamp of its arrival.
func oneWay(t *testing.T, from, to int) time.Duration {
	t.Helper()
	buf, control := make([]byte, 64), make([]byte, 256)
	sent := clock(t, unix.CLOCK_REALTIME)
	if _, err := unix.Write(from, buf); err != nil {
		t.Fatal(err)
	}
	for {
		_, n, _, _, err := unix.Recvmsg(to, buf, control, 0)
		if err == unix.EINTR { // the Go scheduler sends signals
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return arrival(t, control[:n]) - sent
	}
}

func arrival(t *testing.T, control []byte) time.Duration {
	t.Helper()
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) == 16 { // struct timespec
			return time.Duration(binary.NativeEndian.Uint64(m.Data))*time.Second + time.Duration(binary.NativeEndian.Uint64(m.Data[8:]))
		}
	}
	t.Fatal("datagram without a receive timestamp")
	return 0
}

// stampedSocket is a connected UDP socket with receive timestamps that Go's poller knows nothing of. A read of ten seconds fails.
func stampedSocket(t *testing.T, from, to int) int {
	t.Helper()
	home := [4]byte{127, 0, 0, 1}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { return unix.Bind(fd, &unix.SockaddrInet4{Port: from, Addr: home}) },
		func() error { return unix.Connect(fd, &unix.SockaddrInet4{Port: to, Addr: home}) },
		func() error {
			return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10})
		},
		func() error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return fd
}

// timerLateness sleeps without slack (prctl PR_SET_TIMERSLACK) and returns by how much each sleep was too long, sorted.
func timerLateness(t *testing.T, d time.Duration) (late []time.Duration) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	for range trips {
		start := clock(t, unix.CLOCK_MONOTONIC)
		until := unix.NsecToTimespec((start + d).Nanoseconds())
		for err := error(unix.EINTR); err == unix.EINTR; {
			err = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil)
		}
		late = append(late, clock(t, unix.CLOCK_MONOTONIC)-start-d)
	}
	slices.Sort(late)
	return late
}

func clock(t *testing.T, id int32) time.Duration {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}
