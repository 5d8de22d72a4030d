package link

import (
	"testing"
	"time"

	"transportbench/pipeline/matrix"
)

func TestApplyNFQueue(t *testing.T) {
	inNamespace(t, func(t *testing.T) {
		for _, ppm := range []int{0, 10_000, 50_000} {
			start := time.Now()
			a := mustApply(t, matrix.LinkSpec{LossPPM: ppm}, BackendNFQueue)
			t.Logf("%d ppm: apply %s, state %+v", ppm, time.Since(start), a.State())
			start = time.Now()
			c := flood(t, a, 4, 50_000)
			t.Logf("flood %s", time.Since(start))
			for _, d := range c.Directions {
				t.Logf("%d ppm %s: %+v", ppm, d.Name, d)
			}
			t.Logf("%+v", c.UDP)
			start = time.Now()
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			t.Logf("close %s", time.Since(start))
		}
	})
}
