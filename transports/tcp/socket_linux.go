package tcp

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"transportbench/transports/wire"
)

// onSocket runs f on the descriptor of s and returns the error of either.
func onSocket(s stream, f func(fd int) error) error {
	switch s := s.(type) {
	case controller:
		return control(s, f)
	case syscall.Conn:
		raw, err := s.SyscallConn()
		if err != nil {
			return err
		}
		return control(raw, f)
	}
	return fmt.Errorf("stream of type %T has no descriptor", s)
}

// control runs f on the descriptor of c and returns the error of either.
func control(c controller, f func(fd int) error) error {
	var inner error
	if err := c.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// setBuffers asks for the sizes given; 0 leaves the kernel's automatic tuning on. SO_RCVBUFFORCE is never used.
func setBuffers(fd int, cfg wire.Config) error {
	for opt, size := range map[int]int{unix.SO_RCVBUF: cfg.RcvBuf, unix.SO_SNDBUF: cfg.SndBuf} {
		if size == 0 {
			continue
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt, size); err != nil {
			return err
		}
	}
	return nil
}

func setReusePort(fd int, shared bool) error {
	if !shared {
		return nil
	}
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
}

func setReuseAddr(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
}

// setBacklog calls listen(2) again, which on a listening socket only changes the backlog.
func setBacklog(fd int) error { return unix.Listen(fd, backlog) }

// readSettings fills in what the kernel holds for a connected socket. Buffer sizes are as SO_RCVBUF and SO_SNDBUF return them,
// bookkeeping included (socket(7): twice what was asked for).
func readSettings(fd int, s *wire.Settings) error {
	var err error
	if s.RcvBufGranted, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF); err != nil {
		return err
	}
	if s.SndBufGranted, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF); err != nil {
		return err
	}
	if s.CongestionControl, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil {
		return err
	}
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return err
	}
	s.MTU = int(info.Pmtu)
	s.MinRTOUS = minRTO(info)
	return nil
}

// minRTO derives the floor of the retransmission timer in us as it runs, which no option of the socket reveals when a route sets
// it. Linux computes RTO = SRTT + max(4 deviations, floor) in clock ticks, rounded up (net/ipv4/tcp_input.c, tcp_set_rto); on a
// fresh connection the floor is the larger term, so RTO - SRTT, to the nearest millisecond, is the floor with that rounding:
// 204,000 for the usual 200 ms where a tick is 4 ms.
func minRTO(info *unix.TCPInfo) int64 {
	const ms = 1000
	return (int64(info.Rto) - int64(info.Rtt) + ms/2) / ms * ms
}

// segmentsSent is the number of TCP segments that the socket has sent in its life.
func segmentsSent(fd int) (int64, error) {
	info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
	if err != nil {
		return -1, err
	}
	return int64(info.Segs_out), nil
}

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return "linux " + unix.ByteSliceToString(u.Release[:])
}
