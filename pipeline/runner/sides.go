package runner

import "transportbench/artifacts"

// sideOf is one process of a finished attempt with the CPUs it was given.
type sideOf struct {
	name string
	side *artifacts.Side
	cpus []int
}

func (m *measurement) sides() []sideOf {
	return []sideOf{{"server", &m.rec.Server, m.rec.Placement.Server}, {"client", &m.rec.Client, m.rec.Placement.Client}}
}
