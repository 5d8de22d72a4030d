package kcp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"transportbench/transports/echotest/drivertest"
	"transportbench/transports/wire"
)

// sendWrapper gives ikcp_send the result that newer cores have: the bytes accepted, where older ones return 0.
const sendWrapper = `
int ikcp_send(ikcpcb *kcp, const char *buffer, int len)
{
	int rc = ikcp_send_before(kcp, buffer, len);
	return rc < 0 ? rc : len;
}
`

// changedCore is a copy of the core whose function name is called <name>_before, with instead as its new one.
func changedCore(t *testing.T, name, instead string) string {
	t.Helper()
	from, dir := mustCore(t), t.TempDir()
	for _, file := range []string{"ikcp.c", "ikcp.h"} {
		b, err := os.ReadFile(filepath.Join(from, file))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if file == "ikcp.c" {
			changed := strings.Replace(text, "\nint "+name+"(", "\nstatic int "+name+"_before(", 1)
			if changed == text {
				t.Fatalf("the core has no %s where it was", name)
			}
			text = changed + instead
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCoreThatReturnsBytes(t *testing.T) {
	v := debug()
	v.name = "returns-bytes"
	conform(t, program(t, v, changedCore(t, "ikcp_send", sendWrapper), "driver", ourFiles(t)), "run/single", "run/concurrent")
}

// hangWrapper never comes back from the core.
const hangWrapper = `
int ikcp_recv(ikcpcb *kcp, char *buffer, int len)
{
	volatile int forever = ikcp_recv_before(kcp, buffer, len) < 0;
	while (forever >= 0)
		;
	return 0;
}
`

// The deadline holds, and the error record comes, even when a call into the core hangs.
func TestDeadlineHoldsWhenTheCoreHangs(t *testing.T) {
	v := debug()
	v.name = "hangs"
	hanging := program(t, v, changedCore(t, "ikcp_recv", hangWrapper), "driver", ourFiles(t))
	cfg := runConfig(64, 10)
	cfg.Deadline = 300 * time.Millisecond

	s := drivertest.Serve(t, hanging, cfg)
	if _, err := loopbackSocket(t).WriteToUDPAddrPort(segment(42, 81, 0, 0, 0, nil), s.Addr); err != nil {
		t.Fatal(err)
	}
	if e := drivertest.Next[wire.Error](t, s); e.Code != wire.CodeDeadline {
		t.Errorf("server: %+v", e)
	}
	wantExit(t, "server", s.Wait())

	good := drivertest.Serve(t, driver(t, release()), runConfig(64, 10))
	cfg.Role, cfg.Addr = wire.RoleClient, good.Addr
	ctx, cancel := context.WithTimeout(t.Context(), drivertest.RunLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, hanging, cfg.Args()...)
	cmd.Env = []string{}
	out, err := cmd.Output()
	wantExit(t, "client", err)
	if !strings.Contains(string(out), `"code":"deadline"`) {
		t.Errorf("client: %s", out)
	}
	good.Stop(t)
}

func wantExit(t *testing.T, role string, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != wire.ExitFailed {
		t.Errorf("%s: %v, want exit %d", role, err, wire.ExitFailed)
	}
}
