//go:build linux

package raknet

import (
	"io"
	"testing"

	"transportbench/transports/raknet/internal/codec"
	"transportbench/transports/raknet/internal/core"
)

// leaveAnswer makes srv answer the first of three messages that arrive together, and says whether the answer is still pending.
func leaveAnswer(t *testing.T, cli, srv *Conn) (pending bool) {
	t.Helper()
	if err := cli.SendBatch(soon(t), [][]byte{message(64, 1), message(64, 2), message(64, 3)}); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	if _, err := srv.Recv(soon(t), buf); err != nil {
		t.Fatal(err)
	}
	if err := srv.Send(soon(t), buf); err != nil {
		t.Fatal(err)
	}
	srv.sh.mu.Lock()
	defer srv.sh.mu.Unlock()
	return srv.sh.eg.size() > 0
}

func wantMessage(t *testing.T, c *Conn, n int) {
	t.Helper()
	buf := make([]byte, 64)
	if got, err := c.Recv(soon(t), buf); err != nil || string(buf[:got]) != string(message(64, n)) {
		t.Fatalf("%d B, %v, want message %d", got, err, n)
	}
}

// TestAnswerLeftBehind leaves an answer with messages unread and never comes back: the answer is sent all the same. Whether it was
// pending depends on the scheduler, so it is tried until it was.
func TestAnswerLeftBehind(t *testing.T) {
	cli, srv, _ := pair(t, nil, nil)
	for range 1000 {
		pending := leaveAnswer(t, cli, srv)
		wantMessage(t, cli, 1)
		if pending {
			return
		}
		wantMessage(t, srv, 2)
		wantMessage(t, srv, 3)
	}
	t.Error("no answer was ever pending")
}

// TestCloseSendsWhatIsPending ends the connection behind an answer that may be pending.
func TestCloseSendsWhatIsPending(t *testing.T) {
	for range 20 {
		cli, srv, l := pair(t, nil, nil)
		leaveAnswer(t, cli, srv)
		if err := srv.Close(); err != nil {
			t.Fatal(err)
		}
		wantMessage(t, cli, 1)
		if _, err := cli.Recv(soon(t), make([]byte, 64)); err != io.EOF {
			t.Fatalf("after the peer's Close: %v, want io.EOF", err)
		}
		l.Close()
	}
}

// TestSingleDatagramIsItsOwners: what another connection of the shard has left behind is never sent as one's own.
func TestSingleDatagramIsItsOwners(t *testing.T) {
	l := listen(t, &ListenOptions{NoCookies: true})
	cl := client(t, nil)
	dial(t, cl, l, nil)
	dial(t, cl, l, nil)
	a, err := l.Accept(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept(soon(t))
	if err != nil {
		t.Fatal(err)
	}
	sh := a.sh
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.flush()
	if err := b.enqueue(soon(t), &core.Message{Body: message(64, 1), Mode: codec.ReliableOrdered}); err != nil {
		t.Fatal(err)
	}
	sh.output(b, sh.clock(), false)
	if sh.eg.size() != 1 || sh.eg.only(b) == nil {
		t.Fatalf("%d datagrams are pending, want one of the second connection", sh.eg.size())
	}
	if sh.eg.only(a) != nil {
		t.Error("the first connection would send the datagram of the second to its own peer")
	}
	sh.flush()
}

// TestPollerYieldsToSenders: a poller whose caller took a message lets those run that send while it polls, a few times for each send.
func TestPollerYieldsToSenders(t *testing.T) {
	_, srv, _ := pair(t, nil, nil)
	sh := srv.sh
	sh.mu.Lock()
	defer sh.mu.Unlock()
	yields := func() (n int) {
		for range 10 {
			sh.fed = true
			if sh.takeYield() {
				n++
			}
		}
		return n
	}
	sh.woken, sh.company = false, 0
	polling := sh.polling
	defer func() { sh.polling = polling }()
	for _, c := range []struct {
		polling bool
		want    int
	}{{false, 0}, {true, companyYields}} {
		sh.polling = c.polling
		if err := srv.enqueue(soon(t), &core.Message{Body: message(64, 1), Mode: codec.ReliableOrdered}); err != nil {
			t.Fatal(err)
		}
		if got := yields(); got != c.want {
			t.Errorf("%d yields after a send, somebody else polling %v; want %d", got, c.polling, c.want)
		}
	}
	sh.company, sh.fed = companyYields, false
	if sh.takeYield() {
		t.Error("the poller yields though its caller took nothing")
	}
}
