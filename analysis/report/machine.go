package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// machineView says what the numbers were measured on and with.
type machineView struct {
	Facts   []entry
	Sysctls []entry
	Drivers []driverView
	RSS     []rssView
	Pins    []entry
}

type driverView struct{ Name, Version, Toolchain, Commit, Digest, Facts, Missing string }

type rssView struct{ Suite, Floor, Step, How string }

func (b *builder) machine() machineView {
	m := b.in.Artifact.Manifest
	var v machineView
	for _, f := range flatten(m.MeasuredOn) {
		if strings.HasPrefix(f.Term, "sysctls.") {
			v.Sysctls = append(v.Sysctls, entry{strings.TrimPrefix(f.Term, "sysctls."), f.Text})
		} else {
			v.Facts = append(v.Facts, f)
		}
	}
	for _, name := range sortedKeys(m.Drivers) {
		d := m.Drivers[name]
		one := driverView{Name: name, Digest: d.SHA256, Missing: d.Missing}
		if d.Describe != nil {
			one.Version, one.Toolchain, one.Commit = join(" ", d.Describe.Transport, d.Describe.TransportVersion), d.Describe.Toolchain, d.Describe.SourceCommit
			one.Facts = strings.Join(d.Describe.Facts, "; ")
		}
		v.Drivers = append(v.Drivers, one)
	}
	for _, suite := range sortedKeys(m.RSS) {
		r := m.RSS[suite]
		how := "measured"
		if !r.Measured {
			how = "from the formula: no two readings differed"
		}
		v.RSS = append(v.RSS, rssView{suite, thousands(int(r.FloorKiB)) + " KiB", thousands(int(r.StepKiB)) + " KiB", how})
	}
	v.Pins = []entry{
		{"bench SHA-256", orUnknown(m.Bench)}, {"launch SHA-256", orUnknown(m.Launch)}, {"pins SHA-256", orUnknown(m.Pins.SHA256)},
		{"matrix seed", orUnknown(m.Matrix.Seed)}, {"toolchain of bench", orUnknown(m.Code.Toolchain)}, {"host network", b.network()},
	}
	for _, name := range sortedKeys(m.Images) {
		v.Pins = append(v.Pins, entry{"image " + name, m.Images[name]})
	}
	return v
}

func (b *builder) network() string {
	switch equal := b.in.Artifact.Manifest.Network.Equal; {
	case equal == nil:
		return "not compared before and after"
	case *equal:
		return "the same before and after"
	}
	return "changed during the measurement"
}

// facts are leaves of a JSON value by their path, in order of the path.
type facts []entry

func (f facts) get(path string) string {
	for _, e := range f {
		if e.Term == path {
			return e.Text
		}
	}
	return unknown
}

// flatten lists the leaves of any JSON value; what cannot be decoded, or is empty, is unknown.
func flatten(raw json.RawMessage) facts {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	var out facts
	out.walk("", v)
	slices.SortStableFunc(out, func(a, b entry) int { return cmp.Compare(a.Term, b.Term) })
	return out
}

func (f *facts) walk(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			f.walk(strings.TrimPrefix(path+"."+k, "."), x)
		}
	case []any:
		words := make([]string, len(v))
		for i, x := range v {
			words[i] = fmt.Sprint(x)
		}
		*f = append(*f, entry{path, orUnknown(strings.Join(words, " "))})
	case string:
		*f = append(*f, entry{path, orUnknown(v)})
	case json.Number:
		*f = append(*f, entry{path, number(v)})
	case bool:
		*f = append(*f, entry{path, strconv.FormatBool(v)})
	default:
		*f = append(*f, entry{path, unknown})
	}
}

func number(n json.Number) string {
	if i, err := strconv.Atoi(n.String()); err == nil {
		return thousands(i)
	}
	return n.String()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
