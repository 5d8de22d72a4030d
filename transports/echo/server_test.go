package echo

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"transportbench/transports/wire"
)

const serverArgs = "-role server -addr 127.0.0.1:7 -workers 2 "

func TestServerStops(t *testing.T) {
	for name, tc := range map[string]struct {
		args string
		stop func(s *invocation, stdin *io.PipeWriter)
		code int
	}{
		"signal":                 {"", func(s *invocation, _ *io.PipeWriter) { s.stop <- syscall.SIGTERM }, 0},
		"end of input":           {"-stop-on-eof", func(_ *invocation, in *io.PipeWriter) { _ = in.Close() }, 0},
		"deadline":               {"-deadline 7s", func(*invocation, *io.PipeWriter) {}, 1},
		"input ended, not asked": {"-deadline 7s", func(_ *invocation, in *io.PipeWriter) { _ = in.Close() }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, w := io.Pipe()
				s := start(newPipeNet(), r, serverArgs+tc.args)
				<-s.out.ready
				tc.stop(s, w)
				<-s.done
				_ = w.Close()
				all := s.records(t, wire.RoleServer)
				if _, done := all[wire.TypeDone]; s.code != tc.code || done != (tc.code == 0) {
					t.Errorf("exit %d, done %v", s.code, done)
				}
			})
		})
	}
}

func TestServerThatHangsEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet()
		n.stuckSrv = make(chan struct{})
		s := start(n, nil, serverArgs)
		<-s.out.ready
		if _, err := n.Dial(t.Context(), wire.Default(), 0); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		began := time.Now()
		s.stop <- syscall.SIGTERM
		<-s.done
		if e := s.failure(t, wire.RoleServer); s.code != wire.ExitFailed || time.Since(began) > stopGrace {
			t.Errorf("exit %d after %v, %+v", s.code, time.Since(began), e)
		}
		close(n.stuckSrv)
		time.Sleep(time.Hour) // virtual: what was left behind may end
	})
}

func TestServerCannotListen(t *testing.T) {
	s := start(newPipeNet(), nil, "-role server -workers 2 -addr 127.0.0.1:9")
	<-s.done
	if e := s.failure(t, wire.RoleServer); s.code != wire.ExitFailed || e.Message != "listen on 127.0.0.1:9: port 9 is taken" {
		t.Errorf("exit %d, %+v", s.code, e)
	}
}

// A peer that writes too much is the peer's fault: it is logged, and the server goes on.
func TestServerOutlivesBadPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet()
		s := start(n, nil, serverArgs+"-payload 20")
		<-s.out.ready
		bad, err := n.Dial(t.Context(), wire.Default(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := bad.Send(make([]byte, 21)); err != nil {
			t.Fatal(err)
		}
		if _, err := bad.Recv(make([]byte, 30)); !errors.Is(err, io.EOF) {
			t.Errorf("the bad peer got %v", err)
		}
		client := start(n, nil, "-role client -addr 127.0.0.1:7 -workers 2 -payload 20")
		<-client.done
		s.stop <- os.Interrupt
		<-s.done
		if client.code != 0 || s.code != 0 || !strings.Contains(s.log.String(), "connection ended after 0 messages") {
			t.Errorf("exit %d and %d, log %q", client.code, s.code, s.log)
		}
	})
}

// Main is what a process runs: here with the real signal.
func TestMainStopsOnSIGTERM(t *testing.T) {
	out, code := newOutput(), make(chan int)
	go func() {
		code <- Main(newPipeNet(), strings.Fields(serverArgs), nil, out, io.Discard)
	}()
	<-out.ready
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := <-code; got != 0 || !strings.Contains(out.String(), `"type":"done"`) {
		t.Errorf("exit %d, output %s", got, out)
	}
}
