package link

import (
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/matrix"
)

// checkSockets connects TCP over the link and asks both ends what they use.
func checkSockets(t *testing.T, backend string) {
	for _, rtoMin := range []time.Duration{0, 30 * time.Millisecond} {
		a := mustApply(t, matrix.LinkSpec{LossPPM: 10_000, RTOMinNS: rtoMin}, backend)
		client, server := tcpPair(t)
		pingPong(t, client, server, 800)
		for _, conn := range []*net.TCPConn{client, server} {
			if cc, rto := tcpInfo(t, conn); cc != congestionControl {
				t.Errorf("connected socket uses %q, want %q", cc, congestionControl)
			} else if quick := rto < 200*time.Millisecond; quick != (rtoMin > 0) {
				t.Errorf("rto_min %s gives a retransmission timeout of %s", rtoMin, rto)
			}
		}
		c := counters(t, a)
		t.Logf("rto_min %s: %v %v", rtoMin, c.TCP, c.TCPExt)
		if c.TCP["RetransSegs"] == 0 {
			t.Errorf("no retransmissions in %d segments at 1 %% loss", c.TCP["OutSegs"])
		}
		client.Close()
		server.Close()
		mustClose(t, a)
	}
}

func tcpPair(t *testing.T) (client, server *net.TCPConn) {
	t.Helper()
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: testPort})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.DialTCP("tcp4", nil, l.Addr().(*net.TCPAddr)); err != nil {
		t.Fatal(err)
	}
	if server, err = l.AcceptTCP(); err != nil {
		t.Fatal(err)
	}
	return client, server
}

func pingPong(t *testing.T, client, server io.ReadWriter, rounds int) {
	t.Helper()
	buf := make([]byte, 64)
	for range rounds {
		for _, pair := range [][2]io.ReadWriter{{client, server}, {server, client}} {
			if _, err := pair[0].Write(buf); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(pair[1], buf); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func tcpInfo(t *testing.T, conn *net.TCPConn) (cc string, rto time.Duration) {
	t.Helper()
	control(t, conn, func(fd int) (err error) {
		if cc, err = unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION); err != nil {
			return err
		}
		info, err := unix.GetsockoptTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_INFO)
		if err == nil {
			rto = time.Duration(info.Rto) * time.Microsecond
		}
		return err
	})
	return cc, rto
}

func control(t *testing.T, conn syscall.Conn, do func(fd int) error) {
	t.Helper()
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = do(int(fd)) }); err != nil {
		t.Fatal(err)
	}
	if inner != nil {
		t.Fatal(inner)
	}
}

// sendBatch sends one UDP_SEGMENT batch.
func sendBatch(t *testing.T, conn *net.UDPConn, segments, size int) {
	t.Helper()
	sendSegments(t, conn, make([]byte, segments*size), size)
}

// sendSegments sends data as one UDP_SEGMENT batch of datagrams of that size.
func sendSegments(t *testing.T, conn *net.UDPConn, data []byte, size int) {
	t.Helper()
	control(t, conn, func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, size) })
	if _, err := conn.Write(data); err != nil {
		t.Fatal(err)
	}
	control(t, conn, func(fd int) error { return unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT, 0) })
}

// ping sends one ICMP echo request and waits for the reply.
func ping(t *testing.T) {
	t.Helper()
	conn, err := net.ListenPacket("ip4:icmp", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// type 8, code 0, checksum, identifier 1, sequence 1
	request := []byte{8, 0, 0xf7, 0xfd, 0, 1, 0, 1}
	if _, err := conn.WriteTo(request, &net.IPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		t.Fatal(err)
	}
	conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	buf := make([]byte, 64)
	for n := 0; n == 0 || buf[0] != 0; { // the socket also sees the request
		if n, _, err = conn.ReadFrom(buf); err != nil {
			t.Fatal(os.NewSyscallError("echo reply", err))
		}
	}
}
