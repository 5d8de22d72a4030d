package link

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

const insideEnv = "TRANSPORTBENCH_LINK_TEST_INSIDE"

// inNamespace re-executes the calling test alone in new user and network namespaces, as the unprivileged runtime does, and
// runs body there. It skips only when the kernel refuses the namespaces.
func inNamespace(t *testing.T, body func(t *testing.T)) {
	t.Helper()
	if os.Getenv(insideEnv) == "1" {
		body(t)
		return
	}
	reexec(t, "-test.run=^"+t.Name()+"$", "-test.v="+verbose())
}

func reexec(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.Process == nil {
		unsupported := &UnsupportedError{Missing: "user and network namespaces: " + err.Error()}
		t.Skip(unsupported)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("inside the namespace:\n%s", out)
	}
	if err != nil {
		t.Fatalf("inside the namespace: %v\n%s", err, out)
	}
	t.Logf("inside the namespace:\n%s", out)
}

func verbose() string {
	if testing.Verbose() {
		return "true"
	}
	return "false"
}
