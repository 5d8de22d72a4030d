package summary

import (
	"cmp"
	"fmt"
	"strings"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// Class is what two artifacts must share for their numbers to be compared: one machine, and one way to measure on it.
type Class struct {
	Machine   string              `json:"machine"` // host_fingerprint
	Runtime   string              `json:"runtime"`
	Placement artifacts.Placement `json:"placement"`
	Emulated  string              `json:"emulated,omitempty"` // accelerator of a virtual machine that only emulates: functional only
}

// ClassOf reads the class from a manifest.
func ClassOf(m artifacts.Manifest) Class {
	c := Class{Machine: m.HostFingerprint, Runtime: m.Runtime, Placement: m.Placement}
	if m.FunctionalOnly() {
		c.Emulated = cmp.Or(m.VM.Accelerator, "unknown")
	}
	return c
}

// SameClass refuses artifacts that no cell of which can be compared, and says by which fact.
func SameClass(a, b Class) error {
	for i, c := range []Class{a, b} {
		if c.Emulated != "" {
			return fmt.Errorf("the %s artifact is functional only: measured under software emulation (%s); measure with KVM or --runtime local",
				[]string{"first", "second"}[i], c.Emulated)
		}
	}
	for _, f := range []struct{ name, a, b string }{
		{"machine (host_fingerprint)", a.Machine, b.Machine},
		{"runtime", a.Runtime, b.Runtime},
		{"placement", a.Placement.Label, b.Placement.Label},
		{"placement of the server", fmt.Sprint(a.Placement.Server), fmt.Sprint(b.Placement.Server)},
		{"placement of the client", fmt.Sprint(a.Placement.Client), fmt.Sprint(b.Placement.Client)},
	} {
		if f.a != f.b {
			return fmt.Errorf("not of one class: %s is %q in the first and %q in the second artifact", f.name, f.a, f.b)
		}
	}
	return nil
}

// CellDifference says by which fact a cell was not measured in the same way, or nothing.
func CellDifference(x, y []string) string {
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("refused: %s in the first, %s in the second artifact", x[i], y[i])
		}
	}
	return ""
}

// CellFacts are what must agree for a cell to be compared, each as a phrase: counts, link backend, API, workers and granted buffers.
// None without a run that is ok.
func CellFacts(art *artifacts.Artifact, c matrix.Cell) []string {
	for _, r := range art.Last() {
		if r.Profile.ID != c.Profile || r.Variant.Name != c.Variant || r.Outcome != artifacts.OutcomeOK {
			continue
		}
		p, v := r.Profile, r.Variant
		facts := []string{
			fmt.Sprintf("%d messages, %d warmup, %d samples, window %d", p.Messages, p.Warmup, p.Samples, p.Window),
			"link backend " + art.Manifest.LinkBackends[c.Profile],
			fmt.Sprintf("api %s, policy %s, gso %s", v.API, v.Policy, v.GSO),
		}
		for _, s := range []struct {
			name string
			side artifacts.Side
		}{{"client", r.Client}, {"server", r.Server}} {
			if h := s.side.Hello; h != nil {
				facts = append(facts, fmt.Sprintf("%s with %d workers, buffers of %d and %d B", s.name, h.Settings.Workers, h.Settings.RcvBufGranted, h.Settings.SndBufGranted))
			}
		}
		return facts
	}
	return nil
}

// sameDriver reports whether a column is the same file in both.
func sameDriver(a, b *artifacts.Artifact, variant string) bool {
	digest := func(art *artifacts.Artifact) string {
		for _, r := range art.Records {
			if r.Variant.Name == variant {
				return art.Manifest.Drivers[r.Variant.Driver].SHA256
			}
		}
		return ""
	}
	x := digest(a)
	return x != "" && x == digest(b)
}

// suiteOf is the first word of a profile's id.
func suiteOf(c matrix.Cell) string {
	suite, _, _ := strings.Cut(c.Profile, "-")
	return suite
}

// Drift is the least and greatest ratio among cells whose program is the same file: what the machine alone did between the artifacts.
func Drift(ds []Delta, metric string) (least, greatest float64, cells int) {
	for _, d := range ds {
		if !d.SameDriver || d.Metric.Name != metric {
			continue
		}
		if cells == 0 || d.Ratio < least {
			least = d.Ratio
		}
		if cells == 0 || d.Ratio > greatest {
			greatest = d.Ratio
		}
		cells++
	}
	return least, greatest, cells
}
