package host

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
)

// seeds adds one file of every recorded machine.
func seeds(f *testing.F, path string) {
	for _, name := range []string{"x86-v2", "x86-v1", "arm-none", "empty", "malformed"} {
		if b, err := fs.ReadFile(machine(f, name), path); err == nil {
			f.Add(b)
		}
	}
}

func FuzzStat(f *testing.F) {
	seeds(f, "proc/stat")
	f.Fuzz(func(t *testing.T, b []byte) {
		s := parseStat(bytes.NewReader(b))
		for _, c := range s.cpus {
			if c.ID < 0 || c.ID > 65535 {
				t.Errorf("CPU %d", c.ID)
			}
		}
	})
}

func FuzzSoftIRQs(f *testing.F) {
	seeds(f, "proc/softirqs")
	f.Fuzz(func(t *testing.T, b []byte) {
		for kind, row := range parseSoftIRQs(bytes.NewReader(b)) {
			if kind == "" || len(row) == 0 {
				t.Errorf("kind %q has %d counts", kind, len(row))
			}
		}
	})
}

func FuzzPressure(f *testing.F) {
	seeds(f, "proc/pressure/cpu")
	f.Fuzz(func(t *testing.T, b []byte) {
		if p := parsePressure(bytes.NewReader(b)); p.SomeUS.known && !strings.Contains(string(b), "total=") {
			t.Errorf("pressure %v from text without a total", p)
		}
	})
}

func FuzzCPUInfo(f *testing.F) {
	seeds(f, "proc/cpuinfo")
	f.Fuzz(func(t *testing.T, b []byte) {
		if c := parseCPUInfo(bytes.NewReader(b)); c.Model == "" || c.Vendor == "" || c.Microcode == "" || c.Online == Known(0) {
			t.Errorf("an absent fact is not unknown: %+v", c)
		}
	})
}

func FuzzCgroup(f *testing.F) {
	seeds(f, "proc/self/cgroup")
	f.Fuzz(func(t *testing.T, b []byte) {
		for controller, own := range parseCgroup(bytes.NewReader(b)) {
			for _, dir := range ancestors(cgroupRoot, own) {
				if dir != cgroupRoot && !strings.HasPrefix(dir, cgroupRoot+"/") || strings.Contains(dir, "/../") {
					t.Errorf("controller %q leads out of %s to %q", controller, cgroupRoot, dir)
				}
			}
		}
	})
}

func FuzzMemInfo(f *testing.F) {
	seeds(f, "proc/meminfo")
	f.Fuzz(func(_ *testing.T, b []byte) { parseMemInfo(bytes.NewReader(b)) })
}

func FuzzThread(f *testing.F) {
	seeds(f, "proc/77/task/77/status")
	seeds(f, "proc/77/task/77/sched")
	f.Fuzz(func(_ *testing.T, b []byte) {
		parseSwitches(bytes.NewReader(b))
		parseMigrations(bytes.NewReader(b))
		parseCPUStat(bytes.NewReader(b))
	})
}
