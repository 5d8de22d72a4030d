package kcp

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	kcpgo "github.com/xtaci/kcp-go/v5"

	"transportbench/transports/echotest/drivertest"
	"transportbench/transports/echotest/relay"
	"transportbench/transports/wire"
)

// paths are what the two implementations must get each other's messages over.
func paths() map[string]relay.Impairment {
	return map[string]relay.Impairment{
		"clean":      {},
		"loss 1 %":   {DropPPM: 10_000},
		"loss 5 %":   {DropPPM: 50_000},
		"reordering": {HoldPPM: 50_000},
		"repetition": {RepeatPPM: 50_000},
		"all":        {DropPPM: 50_000, HoldPPM: 50_000, RepeatPPM: 50_000},
	}
}

// between puts a bad path before server. The returned function ends it and checks that it was as bad as asked for.
func between(t *testing.T, server netip.AddrPort, imp relay.Impairment) (netip.AddrPort, func()) {
	t.Helper()
	imp.Seed = 11
	r, err := relay.New(t.Context(), server, imp)
	if err != nil {
		t.Fatal(err)
	}
	return r.Addr(), func() {
		st := r.Close()
		if st.Datagrams == 0 || (st.Dropped > 0) != (imp.DropPPM > 0) || (st.Repeated > 0) != (imp.RepeatPPM > 0) || (st.Held > 0) != (imp.HoldPPM > 0) {
			t.Errorf("the path was not as asked for: %+v", st)
		}
	}
}

func tune(s *kcpgo.UDPSession) {
	s.SetMtu(1400)
	s.SetNoDelay(1, 10, 2, 1)
	s.SetWindowSize(64, 128)
	s.SetWriteDelay(false)
	s.SetACKNoDelay(true)
}

// serveGo echoes with kcp-go until the test ends: raw sessions, neither FEC nor encryption.
func serveGo(t *testing.T) netip.AddrPort {
	t.Helper()
	pc := loopbackSocket(t)
	l, err := kcpgo.ServeConn(nil, 0, 0, pc)
	if err != nil {
		t.Fatal(err)
	}
	go func() { // ends with the listener
		for {
			s, err := l.AcceptKCP()
			if err != nil {
				return
			}
			tune(s)
			t.Cleanup(func() { _ = s.Close() })
			go echoGo(s)
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return pc.LocalAddr().(*net.UDPAddr).AddrPort()
}

// echoGo sends back every message; one of at most a segment stays one. It ends with the session.
func echoGo(s *kcpgo.UDPSession) {
	buf := make([]byte, 1<<16)
	for {
		n, err := s.Read(buf)
		if err != nil {
			return
		}
		if _, err := s.Write(buf[:n]); err != nil {
			return
		}
	}
}

func TestClientAgainstKCPGo(t *testing.T) {
	path := driver(t, release())
	for name, imp := range paths() {
		t.Run(name, func(t *testing.T) {
			addr, check := between(t, serveGo(t), imp)
			drivertest.Measure(t, path, runConfig(800, 3000), addr)
			check()
			many := runConfig(64, 300)
			many.Suite, many.Connections, many.Window = wire.SuiteLoaded, 8, 16
			addr, check = between(t, serveGo(t), imp)
			drivertest.Measure(t, path, many, addr)
			check()
		})
	}
}

func TestServerAgainstKCPGo(t *testing.T) {
	path := driver(t, release())
	const messages = 3000
	for name, imp := range paths() {
		t.Run(name, func(t *testing.T) {
			s := drivertest.Serve(t, path, runConfig(800, messages))
			addr, check := between(t, s.Addr, imp)
			exchangeGo(t, addr, 42, messages)
			check()
			if d := s.Stop(t); d.Connections != 1 || d.Messages != messages {
				t.Errorf("%d messages on %d connections, sent %d", d.Messages, d.Connections, messages)
			}
		})
	}
}

// exchangeGo sends messages of 800 B with kcp-go, at most 64 ahead, and verifies their echoes.
func exchangeGo(t *testing.T, addr netip.AddrPort, conv uint32, messages int) {
	t.Helper()
	s, err := kcpgo.NewConn4(conv, net.UDPAddrFromAddrPort(addr), nil, 0, 0, true, loopbackSocket(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tune(s)
	_ = s.SetDeadline(time.Now().Add(drivertest.RunLimit))
	window, sent := make(chan struct{}, 64), make(chan error, 1)
	go func() { // ends when everything is sent, or with the session
		b := make([]byte, 800)
		for i := range messages {
			wire.BuildPayload(b, 0, uint64(i))
			window <- struct{}{}
			if _, err := s.Write(b); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	b := make([]byte, 800)
	for i := range messages {
		if _, err := io.ReadFull(s, b); err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if err := wire.CheckPayload(b, 0, uint64(i)); err != nil {
			t.Fatal(err)
		}
		<-window
	}
	if err := <-sent; err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
