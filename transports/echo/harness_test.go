package echo

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"transportbench/transports/wire"
)

// output collects what a driver writes and tells when the server is ready.
type output struct {
	mu    sync.Mutex
	b     strings.Builder
	ready chan struct{}
}

func newOutput() *output { return &output{ready: make(chan struct{})} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if strings.HasPrefix(string(p), `{"type":"ready"`) {
		close(o.ready)
	}
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// invocation is one driver under test.
type invocation struct {
	code int
	out  *output
	log  *output
	stop chan os.Signal
	done chan struct{}
}

// start runs a driver with args, given as one string; -workers keeps GOMAXPROCS as it is.
func start(n Transport, stdin io.Reader, args string) *invocation {
	i := &invocation{out: newOutput(), log: newOutput(), stop: make(chan os.Signal, 1), done: make(chan struct{})}
	d := &driver{transport: n, stdin: stdin, out: wire.NewWriter(i.out), stderr: i.log, stop: i.stop}
	go func() {
		i.code = d.main(strings.Fields(args))
		close(i.done)
	}()
	return i
}

// pair runs server and client to their ends.
func pair(n *pipeNet, common, serverArgs, clientArgs string) (server, client *invocation) {
	common = " -addr 127.0.0.1:7 -workers 2 " + common + " "
	server = start(n, strings.NewReader(""), "-role server"+common+serverArgs)
	<-server.out.ready
	client = start(n, strings.NewReader(""), "-role client"+common+clientArgs)
	<-client.done
	server.stop <- os.Interrupt
	<-server.done
	return server, client
}

// records checks the whole output against the contract and returns it by type.
func (i *invocation) records(t *testing.T, role string) map[string]wire.Record {
	t.Helper()
	all := map[string]wire.Record{}
	s := wire.NewStream(strings.NewReader(i.out.String()), role)
	for {
		r, err := s.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", role, err, i.out, i.log)
		}
		switch r.(type) {
		case wire.Result:
			all[wire.TypeResult] = r
		case wire.Done:
			all[wire.TypeDone] = r
		case wire.Connected:
			all[wire.TypeConnected] = r
		case wire.Error:
			all[wire.TypeError] = r
		case wire.Hello:
			all[wire.TypeHello] = r
		case wire.Describe:
			all[wire.TypeDescribe] = r
		}
	}
}

func (i *invocation) failure(t *testing.T, role string) wire.Error {
	t.Helper()
	e, ok := i.records(t, role)[wire.TypeError].(wire.Error)
	if !ok {
		t.Fatalf("%s wrote no error record: exit %d\n%s", role, i.code, i.out)
	}
	return e
}

func itoa(n int) string { return strconv.Itoa(n) }
