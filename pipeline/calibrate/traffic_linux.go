package calibrate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	serverPort = 4567
	clientPort = 20000
	patience   = 300 * time.Millisecond // for an echo that may be lost, beyond the round trip
	trust      = 10 * time.Second       // for one that nothing loses: given up too early, the window would grow
)

// exchange sends numbered datagrams through the link, each echoed once.
type exchange struct {
	messages int // datagrams; a multiple of segments
	window   int // datagrams whose fate is not known yet
	payload  int // bytes of a datagram, at least 8
	segments int // datagrams in one UDP_SEGMENT call; 0 or 1: single datagrams
	rtt      time.Duration
	lossy    bool // the link may lose datagrams
}

// outcome is what became of the datagrams, by number.
type outcome struct {
	atServer, atClient []bool // arrived there
	rttNS              []int64
	outOfOrder         [2]int64 // to the server, to the client
	elapsed, cpu       time.Duration
}

// run sends all datagrams. The caller's thread, and so the whole process, is in the network of the link.
func (e exchange) run(ctx context.Context) (*outcome, error) {
	o := &outcome{atServer: make([]bool, e.messages), atClient: make([]bool, e.messages), rttNS: make([]int64, 0, e.messages)}
	server, err := net.ListenUDP("udp4", local(serverPort))
	if err != nil {
		return nil, fmt.Errorf("calibration server: %w", err)
	}
	client, err := net.DialUDP("udp4", local(clientPort), local(serverPort))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("calibration client: %w", err), server.Close())
	}
	if e.segments > 1 {
		err = segment(client, e.payload)
	}
	done := make(chan struct{})
	go func() { // ends when the socket closes
		defer close(done)
		serve(server, o)
	}()
	start, cpu := time.Now(), cpuTime()
	if err == nil {
		err = e.send(ctx, client, o)
	}
	o.elapsed, o.cpu = time.Since(start), cpuTime()-cpu
	err = errors.Join(err, client.Close(), server.Close())
	<-done
	return o, err
}

func local(port int) *net.UDPAddr { return &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port} }

// serve echoes every datagram to where it came from.
func serve(conn *net.UDPConn, o *outcome) {
	buf := make([]byte, 65536)
	highest := int64(-1)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return
		}
		if number := int64(binary.LittleEndian.Uint64(buf)); n >= 8 && number < int64(len(o.atServer)) {
			o.atServer[number] = true
			highest = o.order(0, highest, number)
		}
		_, _ = conn.WriteToUDPAddrPort(buf[:n], from) // a lost echo is what is measured
	}
}

// order counts numbers that arrive after a later one.
func (o *outcome) order(direction int, highest, number int64) int64 {
	if number < highest {
		o.outOfOrder[direction]++
	}
	return max(highest, number)
}

// send keeps a window of datagrams in flight. Both directions keep their order, so an echo settles every earlier number too.
func (e exchange) send(ctx context.Context, conn *net.UDPConn, o *outcome) error {
	step := max(e.segments, 1)
	out, in := make([]byte, step*e.payload), make([]byte, 65536)
	sentNS := make([]int64, e.messages)
	start, wait := time.Now(), trust
	if e.lossy {
		wait = e.rtt + patience
	}
	sent, highest := 0, int64(-1)
	for sent < e.messages || highest < int64(sent)-1 {
		for ; sent < e.messages && int64(sent)-1-highest+int64(step) <= int64(e.window); sent += step {
			for i := range step {
				binary.LittleEndian.PutUint64(out[i*e.payload:], uint64(sent+i))
				sentNS[sent+i] = int64(time.Since(start))
			}
			if _, err := conn.Write(out); err != nil {
				return fmt.Errorf("datagram %d not sent: %w", sent, err)
			}
		}
		number, err := receive(conn, in, wait)
		switch {
		case errors.Is(err, errSilent):
			if err := ctx.Err(); err != nil {
				return err
			}
			highest = int64(sent) - 1 // the whole window is lost
		case err != nil:
			return err
		case number < int64(sent):
			o.rttNS = append(o.rttNS, int64(time.Since(start))-sentNS[number])
			o.atClient[number] = true
			highest = o.order(1, highest, number)
		}
	}
	return nil
}

var errSilent = errors.New("no echo in time")

func receive(conn *net.UDPConn, buf []byte, wait time.Duration) (int64, error) {
	if err := conn.SetReadDeadline(time.Now().Add(wait)); err != nil {
		return 0, err
	}
	n, err := conn.Read(buf)
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout():
		return 0, errSilent
	case err != nil:
		return 0, fmt.Errorf("echo not read: %w", err)
	case n < 8:
		return 0, fmt.Errorf("echo of %d bytes: too short for its number", n)
	}
	return int64(binary.LittleEndian.Uint64(buf)), nil
}

// segment turns UDP_SEGMENT on: one write becomes datagrams of size bytes.
func segment(conn *net.UDPConn, size int) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) { inner = unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_SEGMENT, size) })
	if inner != nil {
		return fmt.Errorf("UDP_SEGMENT not set: %w", inner)
	}
	return err
}

// cpuTime is what this process used so far; on loopback that includes the kernel's work for its packets.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
