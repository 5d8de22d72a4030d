package tcp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"transportbench/transports/echo"
	"transportbench/transports/wire"
)

// serve runs a server until the returned function is called, which gives its exit code and its done record.
func serve(t testing.TB, args string) (addr string, stop func() (int, wire.Done)) {
	t.Helper()
	stdin, end := io.Pipe()
	stdout, out := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- echo.Main(New(), strings.Fields("-role server -stop-on-eof -addr 127.0.0.1:0 "+args), stdin, out, t.Output())
		_ = out.Close()
	}()
	s := wire.NewStream(stdout, wire.RoleServer)
	for addr == "" {
		r, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if ready, ok := r.(wire.Ready); ok {
			addr = ready.Addr
		}
	}
	return addr, func() (int, wire.Done) {
		_ = end.Close()
		r, err := s.Next()
		done, _ := r.(wire.Done)
		if err != nil {
			t.Error(err)
		}
		return <-code, done
	}
}

func TestDriverOverLoopback(t *testing.T) {
	for _, tc := range []struct {
		args     string
		verified int64
	}{
		{"-suite single -messages 3000 -warmup 10 -samples 50", 3060},
		{"-suite sparse -messages 100 -samples 200 -payload 64", 300},
		{"-suite concurrent -connections 33 -listeners 4 -messages 40 -samples 5 -window 16", 33 * 45},
		{"-suite loaded -connections 9 -listeners 4 -messages 100 -samples 5 -window 16 -payload 4096", 9 * 105},
	} {
		for _, api := range []string{wire.APISend, wire.APIBatch} {
			args := fmt.Sprintf("%s -workers 2 -deadline 30s -api %s", tc.args, api)
			addr, stop := serve(t, args)
			var out strings.Builder
			code := echo.Main(New(), strings.Fields("-role client -addr "+addr+" "+args), nil, &out, t.Output())
			serverCode, done := stop()
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			var res wire.Result
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &res); err != nil {
				t.Fatalf("%s: %v in %s", args, err, out.String())
			}
			if code != 0 || serverCode != 0 || res.Verified != tc.verified || done.Messages != tc.verified {
				t.Errorf("%s: exit %d and %d, %d verified, %d echoed, want %d", args, code, serverCode, res.Verified, done.Messages, tc.verified)
			}
			if res.Datagrams == nil || *res.Datagrams < 2 || res.Syscalls != nil {
				t.Errorf("%s: segments %v, calls %v", args, res.Datagrams, res.Syscalls)
			}
		}
	}
}

// BenchmarkEcho is one verified echo per connection through the whole engine, both sides in one process.
func BenchmarkEcho(b *testing.B) {
	for suite, connections := range map[string]int64{"single": 1, "concurrent -connections 16 -listeners 4 -window 16": 16} {
		b.Run(strings.Fields(suite)[0], func(b *testing.B) {
			args := "-workers 2 -suite " + suite
			addr, stop := serve(b, args)
			b.SetBytes(800 * connections)
			b.ReportAllocs()
			b.ResetTimer()
			var out strings.Builder
			if code := echo.Main(New(), strings.Fields(fmt.Sprintf("-role client -addr %s %s -messages %d", addr, args, b.N)), nil, &out, b.Output()); code != 0 {
				b.Errorf("exit %d: %s", code, out.String())
			}
			b.StopTimer()
			stop()
		})
	}
}
