package kcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sendWrapper gives ikcp_send the result that newer cores have: the bytes accepted, where older ones return 0.
const sendWrapper = `
int ikcp_send(ikcpcb *kcp, const char *buffer, int len)
{
	int rc = ikcp_send_before(kcp, buffer, len);
	return rc < 0 ? rc : len;
}
`

func TestCoreThatReturnsBytes(t *testing.T) {
	from, dir := mustCore(t), t.TempDir()
	for _, name := range []string{"ikcp.c", "ikcp.h"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		if name == "ikcp.c" {
			changed := strings.Replace(text, "\nint ikcp_send(", "\nstatic int ikcp_send_before(", 1)
			if changed == text {
				t.Fatal("the core has no ikcp_send where it was")
			}
			text = changed + sendWrapper
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	v := release()
	v.name = "returns-bytes"
	conform(t, program(t, v, dir, "driver", ourFiles(t)), "run/single", "run/concurrent")
}
