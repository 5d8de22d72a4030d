package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"
)

func TestForbidden(t *testing.T) {
	for _, c := range []struct {
		name  string
		errno error
		files map[string]string
		want  string
	}{
		{"switched off", unix.ENOSPC, map[string]string{"proc/sys/user/max_user_namespaces": "0\n"}, "user.max_user_namespaces is 0"},
		{"network switched off", unix.ENOSPC, map[string]string{"proc/sys/user/max_net_namespaces": "0\n"}, "user.max_net_namespaces is 0"},
		{"used up", unix.ENOSPC, map[string]string{"proc/sys/user/max_user_namespaces": "9\n"}, "used up"},
		{"Debian's switch", unix.EPERM, map[string]string{"proc/sys/kernel/unprivileged_userns_clone": "0\n"}, "unprivileged_userns_clone is 0"},
		{"AppArmor", unix.EACCES, map[string]string{"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}, "AppArmor"},
		{"container", unix.EPERM, map[string]string{".dockerenv": "", "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1"}, "seccomp=unconfined"},
		{"seccomp", unix.EPERM, map[string]string{"proc/self/status": "Name:\tx\nSeccomp:\t2\n"}, "RestrictNamespaces"},
		{"seccomp that lets it", unix.EACCES, map[string]string{"proc/self/status": "Seccomp:\t2\n"}, "security policy"},
		{"not built", unix.EINVAL, nil, "CONFIG_USER_NS"},
		{"unknown policy", unix.EPERM, nil, "security policy"},
	} {
		fsys := fstest.MapFS{}
		for name, data := range c.files {
			fsys[name] = &fstest.MapFile{Data: []byte(data)}
		}
		err := forbidden(fsys, c.errno)
		if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || err.Fix == "" {
			t.Errorf("%s: %q, want one line with %q and a fix", c.name, err, c.want)
		}
		if !errors.Is(err, c.errno) {
			t.Errorf("%s: the kernel's answer is lost", c.name)
		}
	}
}

func TestDiagnoseLeavesOtherErrors(t *testing.T) {
	var missing *UnsupportedError
	for _, err := range []error{errors.New("else"), fmt.Errorf("x: %w", unix.ENOMEM)} {
		if errors.As(diagnoseStart(err), &missing) || errors.As(diagnoseSetup(err), &missing) {
			t.Errorf("%v became %v", err, missing)
		}
	}
	if !errors.As(diagnoseSetup(errors.New("mount namespace: permission denied")), &missing) {
		t.Error("a holder without rights is not told as unsupported")
	}
}

func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", dir, plain, filepath.Join(dir, "none")} {
		_, err := NewLocal(path)
		var pe *ProgramError
		if !errors.As(err, &pe) || pe.Path != path || pe.Fix == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("launch %q: %v", path, err)
		}
	}
}

func TestTail(t *testing.T) {
	var tl tail
	fmt.Fprintf(&tl, "%s\nlast words\nof two lines\n", strings.Repeat("x", 3*tailBytes))
	if got := tl.String(); len(got) > tailBytes+10 || !strings.HasSuffix(got, "last words | of two lines") {
		t.Errorf("tail %q", got)
	}
}

func TestParseThread(t *testing.T) {
	th, err := parseThread("Name:\ta b\nPid:\t7\nCpus_allowed_list:\t0,2-3\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n")
	if err != nil || th.Name != "a b" || th.TID != 7 || len(th.CPUs) != 3 || th.Vol != 5 || th.Invol != 6 {
		t.Errorf("thread %+v: %v", th, err)
	}
	for _, bad := range []string{"", "Name:\tx\n", "Pid:\tx\n", "Pid:\t1\nCpus_allowed_list:\t3-1\n"} {
		if th, err := parseThread(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, th)
		}
	}
	if got := parentPID("12 (a ) b) S 34 12 12"); got != 34 {
		t.Errorf("parent %d, want 34", got)
	}
	if got := parentPID("12 (a"); got != -1 {
		t.Errorf("parent of a cut line: %d", got)
	}
}
