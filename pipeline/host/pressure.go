package host

import (
	"io"
	"strings"
)

// Pressure is time lost waiting for one resource, in µs since boot (Documentation/accounting/psi.rst).
type Pressure struct {
	SomeUS Count `json:"some_us"` // at least one task waited
	FullUS Count `json:"full_us"` // all tasks waited
}

// parsePressure reads a PSI file. An empty one, as without CONFIG_PSI or with psi=0, is unknown.
func parsePressure(r io.Reader) Pressure {
	var p Pressure
	lines(r, func(line string) {
		f := strings.Fields(line)
		if len(f) == 0 {
			return
		}
		for _, kv := range f[1:] {
			total, ok := strings.CutPrefix(kv, "total=")
			switch {
			case ok && f[0] == "some":
				p.SomeUS = parseCount(total)
			case ok && f[0] == "full":
				p.FullUS = parseCount(total)
			}
		}
	})
	return p
}

func subPressure(now, before map[string]Pressure) map[string]Pressure {
	d := make(map[string]Pressure, len(now))
	for kind, p := range now {
		b := before[kind]
		d[kind] = Pressure{SomeUS: p.SomeUS.sub(b.SomeUS), FullUS: p.FullUS.sub(b.FullUS)}
	}
	return d
}
