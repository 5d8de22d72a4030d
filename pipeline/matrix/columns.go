package matrix

import "slices"

// Columns lists the variants that have a run, in the order in which tables show them: the matrix's own, then extras and bound drivers.
func (p *Plan) Columns() []string {
	var names []string
	for _, name := range p.columns {
		if slices.ContainsFunc(p.Runs, func(r Run) bool { return r.Variant.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// Drivers lists the drivers that runs and probes need, each once, in order of first use.
func (p *Plan) Drivers() []string {
	var names []string
	for _, runs := range [][]Run{p.Runs, p.Probe} {
		for _, r := range runs {
			if !slices.Contains(names, r.Variant.Driver) {
				names = append(names, r.Variant.Driver)
			}
		}
	}
	return names
}
