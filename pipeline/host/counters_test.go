package host

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCountJSON(t *testing.T) {
	for _, c := range []struct {
		in   Count
		want string
	}{{Count{}, `"unknown"`}, {Known(0), "0"}, {Known(-7), "-7"}} {
		b, err := json.Marshal(c.in)
		if err != nil || string(b) != c.want {
			t.Errorf("%v: %s, want %s (%v)", c.in, b, c.want, err)
		}
		var back Count
		if err := json.Unmarshal(b, &back); err != nil || back != c.in {
			t.Errorf("%s came back as %v (%v)", b, back, err)
		}
	}
	for _, bad := range []string{`"0"`, `1.5`, `null`, `"ok"`} {
		var c Count
		if err := json.Unmarshal([]byte(bad), &c); err == nil && bad != "null" {
			t.Errorf("%s: accepted as %v", bad, c)
		}
	}
}

// TestReportJSON shows that a report survives its way through the holder and the artifact.
func TestReportJSON(t *testing.T) {
	for _, name := range []string{"x86-v2", "arm-none", "malformed"} {
		env := capture(t, name)
		want := Report{Environment: &env, Counters: Read(machine(t, name), time.Second, []int{77})}
		b, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Report
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Count{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestSub(t *testing.T) {
	before := Read(machine(t, "x86-v2"), time.Second, []int{77})
	after := Read(machine(t, "x86-v2"), 3*time.Second, []int{77})
	after.CPU[1].StealNS = after.CPU[1].StealNS.plus(Known(5))
	after.Switches = after.Switches.plus(Known(11))
	after.SoftIRQ["NET_RX"][2] = after.SoftIRQ["NET_RX"][2].plus(Known(4))
	after.Pressure["cpu"] = Pressure{SomeUS: Known(1_000_500), FullUS: Count{}}
	after.Procs[0].Migrations = after.Procs[0].Migrations.plus(Known(2))
	d := after.Sub(before)
	for _, c := range []struct {
		what string
		got  Count
		want Count
	}{
		{"time", d.MonoNS, Known(2e9)}, {"steal", d.CPU[1].StealNS, Known(5)}, {"steal elsewhere", d.CPU[0].StealNS, Known(0)},
		{"switches", d.Switches, Known(11)}, {"softirq", d.SoftIRQ["NET_RX"][2], Known(4)},
		{"pressure", d.Pressure["cpu"].SomeUS, Known(500)}, {"pressure gone", d.Pressure["cpu"].FullUS, Count{}},
		{"migrations", d.Procs[0].Migrations, Known(2)}, {"throttle", d.Throttle.Periods, Known(0)},
		{"frequency is no total", d.FreqKHz[0], Known(3_000_000)},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestSubAfterHotplug has one CPU less before: what cannot be subtracted is unknown.
func TestSubAfterHotplug(t *testing.T) {
	before, after := Read(machine(t, "x86-v2"), 0, nil), Read(machine(t, "x86-v2"), time.Second, nil)
	before.CPU = before.CPU[:3]
	before.SoftIRQ["NET_RX"] = before.SoftIRQ["NET_RX"][:3]
	d := after.Sub(before)
	if d.CPU[3].StealNS.known || !d.CPU[2].StealNS.known || d.SoftIRQ["NET_RX"][0].known {
		t.Errorf("after a CPU came: %+v, %v", d.CPU, d.SoftIRQ["NET_RX"])
	}
	if over, known := d.stolen(0); over || known {
		t.Error("stolen time over CPUs that came: want unknown")
	}
}

func TestProcsSumThreads(t *testing.T) {
	got := ReadProcs(machine(t, "x86-v2"), []int{77, 999})
	want := []Proc{{PID: 77, Name: "driver", Voluntary: Known(15), Involunt: Known(3), Migrations: Known(7)}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Count{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// quiet is one second of four undisturbed CPUs, everything known.
func quiet() Counters {
	return Counters{
		MonoNS: Known(1e9), CPU: slices.Repeat([]CPUTimes{{StealNS: Known(0)}}, 4),
		Pressure: map[string]Pressure{"cpu": {SomeUS: Known(0)}, "memory": {SomeUS: Known(0)}},
		Throttle: Throttle{Periods: Known(0), CgroupNS: Known(0), CoreHot: Known(0), PackageHot: Known(0)},
	}
}

func TestFlags(t *testing.T) {
	for _, c := range []struct {
		name            string
		change          func(*Counters)
		raised, unknown []string
	}{
		{"quiet", func(*Counters) {}, nil, nil},
		{"steal at the limit", func(d *Counters) { d.CPU[0].StealNS = Known(40_000_000) }, nil, nil},
		{"steal over it", func(d *Counters) { d.CPU[0].StealNS = Known(40_000_001) }, []string{FlagStolenTime}, nil},
		{"steal unknown on one CPU", func(d *Counters) { d.CPU[3].StealNS = Count{} }, nil, []string{FlagStolenTime}},
		{"no CPUs read", func(d *Counters) { d.CPU = nil }, nil, []string{FlagStolenTime}},
		{"CPU pressure at the limit", func(d *Counters) { d.Pressure["cpu"] = Pressure{SomeUS: Known(500_000)} }, nil, nil},
		{"CPU pressure", func(d *Counters) { d.Pressure["cpu"] = Pressure{SomeUS: Known(500_001)} }, []string{FlagCPUPressure}, nil},
		{"memory pressure", func(d *Counters) { d.Pressure["memory"] = Pressure{SomeUS: Known(10_001)} }, []string{FlagMemoryPressure}, nil},
		{"no PSI", func(d *Counters) { d.Pressure = nil }, nil, []string{FlagCPUPressure, FlagMemoryPressure}},
		{"quota", func(d *Counters) { d.Throttle.Periods = Known(1) }, []string{FlagThrottled}, nil},
		{"heat", func(d *Counters) { d.Throttle.PackageHot = Known(1) }, []string{FlagThrottled}, nil},
		{"guest without heat counters", func(d *Counters) { d.Throttle.CoreHot, d.Throttle.PackageHot = Count{}, Count{} }, nil, []string{FlagThrottled}},
		{"no clock", func(d *Counters) { d.MonoNS = Count{} }, nil, []string{FlagStolenTime, FlagCPUPressure, FlagMemoryPressure}},
	} {
		d := quiet()
		c.change(&d)
		raised, unknown := d.Flags(DefaultThresholds())
		if !slices.Equal(raised, c.raised) || !slices.Equal(unknown, c.unknown) {
			t.Errorf("%s: raised %q unknown %q, want %q and %q", c.name, raised, unknown, c.raised, c.unknown)
		}
	}
}
