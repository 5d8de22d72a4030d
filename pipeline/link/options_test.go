package link

import (
	"strings"
	"testing"
	"time"

	"transportbench/pipeline/matrix"
)

func TestNewPlan(t *testing.T) {
	cases := []struct {
		name string
		spec matrix.LinkSpec
		port int
		want string // words of the error, empty for none
	}{
		{"defaults", matrix.LinkSpec{}, 1, ""},
		{"all set", matrix.LinkSpec{LossPPM: 999_999, DelayNS: time.Second, MTU: 576, Limit: 1, RTOMinNS: time.Millisecond, Topology: "lo"}, 65535, ""},
		{"certain loss", matrix.LinkSpec{LossPPM: 1_000_000}, 1, "loss of 1000000 ppm"},
		{"negative loss", matrix.LinkSpec{LossPPM: -1}, 1, "loss of -1 ppm"},
		{"negative delay", matrix.LinkSpec{DelayNS: -1}, 1, "delay -1ns"},
		{"tiny mtu", matrix.LinkSpec{MTU: 575}, 1, "mtu 575"},
		{"no queue", matrix.LinkSpec{Limit: -1}, 1, "limit of -1"},
		{"fine rto_min", matrix.LinkSpec{RTOMinNS: time.Microsecond}, 1, "rto_min 1µs"},
		{"no port", matrix.LinkSpec{}, 0, "port 0"},
		{"port too large", matrix.LinkSpec{}, 65536, "port 65536"},
		{"reserved topology", matrix.LinkSpec{Topology: "dumbbell"}, 1, `topology "dumbbell" is reserved`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, err := newPlan(c.spec, Options{Port: c.port})
			if c.want == "" && (err != nil || p.mtu == 0 || p.limit == 0) {
				t.Errorf("plan %+v, error %v", p, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestThreshold requires that reading back gives the planned loss for every planned loss, and that it is the right share.
func TestThreshold(t *testing.T) {
	for ppm := range wholePPM {
		if got := thresholdPPM(dropThreshold(ppm)); got != ppm {
			t.Fatalf("%d ppm came back as %d", ppm, got)
		}
	}
	if got := dropThreshold(500_000); got != 1<<31 {
		t.Errorf("one half is %#x, want %#x", got, uint32(1<<31))
	}
}
