package echo

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"transportbench/transports/wire"
)

// Whatever call of the transport never comes back, the client answers in time.
func TestClientDeadline(t *testing.T) {
	for name, breakIt := range map[string]func(n *pipeNet, hang chan struct{}){
		"dial": func(n *pipeNet, hang chan struct{}) {
			n.dial = func(context.Context, int) error { <-hang; return io.EOF }
		},
		"dial polite": func(n *pipeNet, _ chan struct{}) {
			n.dial = func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
		},
		"recv":         func(n *pipeNet, hang chan struct{}) { n.stuck = hang },
		"silent peer":  func(n *pipeNet, hang chan struct{}) { n.stuckSrv = hang },
		"slow network": func(n *pipeNet, _ chan struct{}) { n.delay = time.Second },
	} {
		for _, suite := range []string{"single", "loaded"} {
			t.Run(name+" "+suite, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					hang := make(chan struct{})
					n := newPipeNet()
					breakIt(n, hang)
					server := start(n, nil, "-role server -addr 127.0.0.1:7 -workers 2")
					<-server.out.ready
					began := time.Now()
					client := start(n, nil, "-role client -addr 127.0.0.1:7 -workers 2 -messages 90 -warmup 9 -deadline 30s -suite "+suite)
					<-client.done
					if took := time.Since(began); took < 30*time.Second || took > 30*time.Second+closeGrace {
						t.Errorf("ended after %v", took)
					}
					if e := client.failure(t, wire.RoleClient); client.code != wire.ExitFailed || e.Code != wire.CodeDeadline {
						t.Errorf("exit %d, %+v", client.code, e)
					}
					close(hang)
					server.stop <- os.Interrupt
					<-server.done
					time.Sleep(time.Hour) // virtual: what was left behind may end
				})
			})
		}
	}
}

func TestClientInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet()
		n.dial = func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
		client := start(n, nil, "-role client -addr 127.0.0.1:7 -workers 2")
		client.stop <- os.Interrupt
		<-client.done
		if e := client.failure(t, wire.RoleClient); client.code != wire.ExitFailed || e.Code != wire.CodeInterrupted {
			t.Errorf("exit %d, %+v", client.code, e)
		}
	})
}

func TestConnectFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet()
		n.dial = func(_ context.Context, index int) error {
			if index == 5 {
				return errors.New("refused")
			}
			return nil
		}
		_, client := pair(n, "-suite concurrent -connections 9", "", "")
		if e := client.failure(t, wire.RoleClient); client.code != wire.ExitFailed || !strings.Contains(e.Message, "connection 5 to 127.0.0.1:7: refused") {
			t.Errorf("exit %d, %+v", client.code, e)
		}
	})
}

func TestAtMostEightHandshakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet()
		var now, most atomic.Int64
		n.dial = func(context.Context, int) error {
			if v := now.Add(1); v > most.Load() {
				most.Store(v)
			}
			time.Sleep(time.Millisecond)
			now.Add(-1)
			return nil
		}
		_, client := pair(n, "-suite concurrent -connections 40", "", "")
		if client.code != 0 || most.Load() != 8 {
			t.Errorf("exit %d, %d handshakes at a time", client.code, most.Load())
		}
	})
}

// The path is tried before anything is measured.
func TestSamplesFileIsNotOverwritten(t *testing.T) {
	file := t.TempDir() + "/rtt"
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		_, client := pair(newPipeNet(), "-samples 3", "", "-samples-file "+file)
		if e := client.failure(t, wire.RoleClient); client.code != wire.ExitFailed || !strings.Contains(e.Message, "file exists") {
			t.Errorf("exit %d, %+v", client.code, e)
		}
		if _, ok := client.records(t, wire.RoleClient)[wire.TypeConnected]; ok {
			t.Error("connected before the path was tried")
		}
	})
	if b, err := os.ReadFile(file); string(b) != "precious" {
		t.Errorf("file now holds %q, %v", b, err)
	}
}

func TestSamplesFileOfAFailedRunIsRemoved(t *testing.T) {
	file := t.TempDir() + "/rtt"
	synctest.Test(t, func(t *testing.T) {
		if _, client := pair(newPipeNet(), "-samples 3 -messages 9", "-fault flip", "-samples-file "+file); client.code != wire.ExitVerification {
			t.Errorf("exit %d", client.code)
		}
	})
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}
