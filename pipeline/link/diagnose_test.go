package link

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

func packed(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

func TestFindModule(t *testing.T) {
	plain := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	cases := []struct {
		name string
		root fstest.MapFS
		want moduleState
	}{
		{"no files", fstest.MapFS{}, moduleUnknown},
		{"built in by list", fstest.MapFS{"lib/modules/6.1/modules.builtin": plain("kernel/net/sched/sch_netem.ko\n")}, moduleBuiltIn},
		{"built in by configuration", fstest.MapFS{"boot/config-6.1": plain("CONFIG_NET_SCH_NETEM=y\n")}, moduleBuiltIn},
		{"loadable", fstest.MapFS{"lib/modules/6.1/modules.dep": plain("kernel/net/sched/sch_netem.ko: kernel/a.ko\n")}, modulePresent},
		{"loadable and compressed", fstest.MapFS{"lib/modules/6.1/modules.dep": plain("kernel/net/sched/sch_netem.ko.zst:\n")}, modulePresent},
		{"only a dependency of another", fstest.MapFS{"lib/modules/6.1/modules.dep": plain("kernel/x.ko: kernel/net/sched/sch_netem.ko\n")}, moduleUnknown},
		{"another kernel's", fstest.MapFS{"lib/modules/5.4/modules.dep": plain("kernel/net/sched/sch_netem.ko:\n")}, moduleUnknown},
		{"package missing", fstest.MapFS{"lib/modules/6.1/config": plain("CONFIG_NET_SCH_NETEM=m\n")}, moduleNotInstalled},
		{"left out", fstest.MapFS{"proc/config.gz": packed(t, "# CONFIG_NET_SCH_NETEM is not set\n")}, moduleNotBuilt},
		{"damaged configuration", fstest.MapFS{"proc/config.gz": plain("junk")}, moduleUnknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := findModule(c.root, "6.1", features[BackendNetem]); got != c.want {
				t.Errorf("state %d, want %d", got, c.want)
			}
		})
	}
}

func TestDiagnose(t *testing.T) {
	cases := []struct {
		name    string
		code    syscall.Errno
		s       surroundings
		missing string
		fix     string
	}{
		{"not built", syscall.ENOENT, surroundings{module: moduleNotBuilt, distro: "debian"}, "not built", "linux-image-amd64"},
		{"not loaded", syscall.ENOENT, surroundings{module: modulePresent}, "module not loaded", "sudo modprobe sch_netem"},
		{"ubuntu", syscall.ENOENT, surroundings{module: moduleNotInstalled, distro: "ubuntu", release: "6.8.0-1-generic"}, "module not installed", "linux-modules-extra-6.8.0-1-generic, then sudo modprobe"},
		{"fedora", syscall.ENOENT, surroundings{module: moduleNotInstalled, distro: "fedora"}, "module not installed", "kernel-modules-extra"},
		{"wsl", syscall.ENOENT, surroundings{module: moduleNotBuilt, release: "6.6.87-microsoft-standard-WSL2"}, "not built", ".wslconfig"},
		{"docker desktop", syscall.ENOENT, surroundings{release: "6.10.14-linuxkit"}, "not available", "Docker Desktop"},
		{"container", syscall.ENOENT, surroundings{module: modulePresent, container: true}, "module not loaded", "on the host: sudo modprobe"},
		{"unknown", syscall.ENOENT, surroundings{}, "not available", "extra kernel modules"},
		{"container without capability", syscall.EPERM, surroundings{container: true}, "lacks the NET_ADMIN", "--cap-add NET_ADMIN"},
		{"apparmor", syscall.EPERM, surroundings{appArmorBan: true, inUserNS: true}, "apparmor_restrict_unprivileged_userns", "--runtime docker"},
		{"apparmor is not to blame outside", syscall.EPERM, surroundings{appArmorBan: true}, "CAP_NET_ADMIN is missing", "run as root"},
		{"policy", syscall.EACCES, surroundings{netAdmin: true}, "security policy", "seccomp"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := diagnose(BackendNetem, fmt.Errorf("netem not set on lo: %w", c.code), c.s)
			var u *UnsupportedError
			if !errors.As(err, &u) || !strings.Contains(u.Missing, c.missing) || !strings.Contains(u.Fix, c.fix) {
				t.Errorf("diagnosis %q, want %q and fix %q", err, c.missing, c.fix)
			}
			if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), c.code.Error()) {
				t.Errorf("diagnosis is raw or not one line: %q", err)
			}
		})
	}
}

// TestDiagnosePassesOn keeps errors that say nothing about what is missing.
func TestDiagnosePassesOn(t *testing.T) {
	plain := errors.New("route is there twice")
	if got := diagnose(BackendNFT, plain, surroundings{}); got != plain {
		t.Errorf("plain error became %v", got)
	}
	var u *UnsupportedError
	if got := diagnose(BackendNFT, syscall.ENOMEM, surroundings{}); errors.As(got, &u) || !errors.Is(got, syscall.ENOMEM) {
		t.Errorf("lack of memory became %v", got)
	}
	known := &UnsupportedError{Missing: "delay"}
	if got := diagnose(BackendNFT, known, surroundings{}); got != known {
		t.Errorf("typed error became %v", got)
	}
}
