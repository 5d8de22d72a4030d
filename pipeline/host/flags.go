package host

// Flags that a run can carry. A flag labels a run; it never discards one.
const (
	FlagStolenTime     = "stolen-time"     // the hypervisor gave CPU time to others
	FlagCPUPressure    = "cpu-pressure"    // runnable tasks waited for a CPU
	FlagMemoryPressure = "memory-pressure" // tasks waited for memory
	FlagThrottled      = "throttled"       // a cgroup quota or heat slowed the CPUs down
)

// Thresholds say above which share of a run's time a disturbance becomes a flag, in parts per million.
type Thresholds struct {
	StealPPM  int64 // of the CPU time of all CPUs
	CPUPPM    int64 // of wall time, PSI some of the whole machine
	MemoryPPM int64 // of wall time, PSI some of the whole machine
}

// DefaultThresholds returns what runs are judged by unless the caller says otherwise. 1 % stolen, or stalled on memory, moves
// a median by as much as the differences we look for. CPU pressure has to be far higher, because client and server themselves
// wait for CPUs whenever they have more threads than CPUs.
func DefaultThresholds() Thresholds {
	return Thresholds{StealPPM: 10_000, CPUPPM: 500_000, MemoryPPM: 10_000}
}

const million = 1_000_000

// Flags judges what happened during a run; d comes from Sub. raised lists the flags; unknown lists those that this kernel
// gives no answer for, which is not the same as absent.
func (d Counters) Flags(t Thresholds) (raised, unknown []string) {
	judge := func(flag string, over, known bool) {
		switch {
		case over:
			raised = append(raised, flag)
		case !known:
			unknown = append(unknown, flag)
		}
	}
	over, known := d.stolen(t.StealPPM)
	judge(FlagStolenTime, over, known)
	over, known = d.pressed("cpu", t.CPUPPM)
	judge(FlagCPUPressure, over, known)
	over, known = d.pressed("memory", t.MemoryPPM)
	judge(FlagMemoryPressure, over, known)
	over, known = d.Throttle.any()
	judge(FlagThrottled, over, known)
	return raised, unknown
}

// stolen compares steal with the time of all CPUs; CPUs without a steal column make it unknown.
func (d Counters) stolen(ppm int64) (over, known bool) {
	wall, ok := d.MonoNS.Get()
	if !ok || wall <= 0 || len(d.CPU) == 0 {
		return false, false
	}
	steal := Known(0)
	for _, c := range d.CPU {
		steal = steal.plus(c.StealNS)
	}
	return share(steal, wall*int64(len(d.CPU)), ppm)
}

func (d Counters) pressed(kind string, ppm int64) (over, known bool) {
	wall, ok := d.MonoNS.Get()
	if !ok || wall <= 0 {
		return false, false
	}
	return share(d.Pressure[kind].SomeUS.times(1000), wall, ppm)
}

// share reports whether part exceeds ppm of whole. Floating point, because the product of ns and a million overflows.
func share(part Count, whole, ppm int64) (over, known bool) {
	n, ok := part.Get()
	return ok && float64(n)*million > float64(whole)*float64(ppm), ok
}

// any is true when one counter rose. It is known only when both a quota's and a heat counter are.
func (t Throttle) any() (over, known bool) {
	rose := func(counts ...Count) (known bool) {
		for _, c := range counts {
			n, ok := c.Get()
			over, known = over || ok && n > 0, known || ok
		}
		return known
	}
	quota, heat := rose(t.Periods, t.CgroupNS), rose(t.CoreHot, t.PackageHot)
	return over, quota && heat
}
