package link

import (
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"transportbench/pipeline/matrix"
)

// BenchmarkLink measures an echo of 800 B with 64 in flight over each backend: time per message, throughput, CPU time of
// client, server and link together per packet, and the cost of Apply and Close.
func BenchmarkLink(b *testing.B) {
	if os.Getenv(insideEnv) != "1" {
		reexec(b, "-test.run=^$", "-test.bench=^BenchmarkLink$", "-test.v=true", "-test.benchtime=20000x")
		return
	}
	for _, c := range []struct {
		backend string
		spec    matrix.LinkSpec
	}{
		{BackendNFT, matrix.LinkSpec{}},
		{BackendNFT, matrix.LinkSpec{LossPPM: 10_000}},
		{BackendNFQueue, matrix.LinkSpec{}},
		{BackendNFQueue, matrix.LinkSpec{LossPPM: 10_000}},
		{BackendNFQueue, matrix.LinkSpec{DelayNS: 5 * time.Millisecond}},
	} {
		b.Run(fmt.Sprintf("%s-l%d-d%s", c.backend, c.spec.LossPPM/10_000, c.spec.DelayNS), func(b *testing.B) {
			benchmarkLink(b, c.spec, c.backend)
		})
	}
}

func benchmarkLink(b *testing.B, spec matrix.LinkSpec, backend string) {
	start := time.Now()
	a := mustApply(b, spec, backend)
	apply := time.Since(start)
	echoServer(b)
	c := newClient(b, 0, 800)
	before, cpu := counters(b, a), cpuTime()
	b.ResetTimer()
	if err := c.run(b.N, 64, patience(spec)); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	used := cpuTime() - cpu
	packets := counters(b, a).Sub(before).PacketsLo
	b.ReportMetric(float64(used)/float64(packets), "cpu-ns/packet")
	b.ReportMetric(float64(len(c.echoed))*800/b.Elapsed().Seconds()/(1<<20), "MiB/s")
	b.ReportMetric(float64(apply.Microseconds()), "apply-us")
	start = time.Now()
	mustClose(b, a)
	b.ReportMetric(float64(time.Since(start).Microseconds()), "close-us")
}

// patience is how long a missing echo is waited for: for ever without loss, because a slot given up too early widens the window.
func patience(spec matrix.LinkSpec) time.Duration {
	if spec.LossPPM == 0 {
		return time.Minute
	}
	return 50 * time.Millisecond
}

func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
