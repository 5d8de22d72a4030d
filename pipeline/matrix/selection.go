package matrix

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Selection narrows a matrix to what one user wants. The zero value is the whole published plan of the matrix.
type Selection struct {
	Only           []string          // clauses "key=v|v,key=v"; a cell is planned when any clause accepts it
	Extras         []string          // extra columns, or "all"
	Drivers        []string          // names bound with --driver NAME=PATH; an unknown name becomes a column of its own
	Cores          map[string]string // by driver: another core than the pinned one; its columns are named <column>@<core>
	Repetitions    int               // 0: as the matrix says
	Scale          float64           // 0 or 1: as the matrix says; multiplies bursts, warmups and samples
	MaxConnections int               // 0: no cap
	DeadlineScale  float64           // 0 or 1: as the matrix says; multiplies every deadline, for machines that only emulate
}

// kind of the plan: scale and caps make smoke, any other choice makes custom.
func (sel Selection) kind(m *Matrix) string {
	switch {
	case sel.scaled() || sel.MaxConnections > 0:
		return KindSmoke
	case len(sel.Only)+len(sel.Extras)+len(sel.Drivers) > 0 || sel.Repetitions > 0 || sel.patient():
		return KindCustom
	}
	return m.Kind
}

func (sel Selection) scaled() bool { return sel.Scale != 0 && sel.Scale != 1 }

func (sel Selection) patient() bool { return sel.DeadlineScale != 0 && sel.DeadlineScale != 1 }

// planned is a profile after scaling and capping; dropped says that a cap made it equal to an earlier one.
type planned struct {
	Profile
	dropped bool
}

// selectedProfiles applies scale, caps and repetitions, keeping every profile's place.
//
// A cap lowers the connections of larger profiles to N and keeps their messages per connection; the id says the real N.
// Where an earlier profile already has that id the capped one is dropped, so 64, 256 and 1,024 connections under a cap of 32 give one profile.
func (m *Matrix) selectedProfiles(sel Selection) ([]planned, error) {
	if err := sel.check(); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var out []planned
	for _, p := range m.Profiles {
		if sel.scaled() {
			p = p.scaled(sel.Scale, m.Floors)
		}
		if sel.MaxConnections > 0 && p.Connections > sel.MaxConnections {
			p.Connections = sel.MaxConnections
			p.ID = p.makeID()
		}
		if sel.Repetitions > 0 {
			p.Repetitions = sel.Repetitions
		}
		out = append(out, planned{Profile: p, dropped: seen[p.ID]})
		seen[p.ID] = true
	}
	return out, nil
}

func (sel Selection) check() error {
	switch {
	case sel.Repetitions < 0 || sel.Repetitions > maxRepetitions:
		return fmt.Errorf("repetitions %d: want 1 to %d", sel.Repetitions, maxRepetitions)
	case math.IsNaN(sel.Scale) || sel.Scale < 0 || sel.Scale > 1000:
		return fmt.Errorf("scale %v: want more than 0 and at most 1000", sel.Scale)
	case math.IsNaN(sel.DeadlineScale) || sel.DeadlineScale < 0 || sel.DeadlineScale > 1000:
		return fmt.Errorf("deadline-scale %v: want more than 0 and at most 1000", sel.DeadlineScale)
	case sel.MaxConnections < 0:
		return fmt.Errorf("max-connections %d: want 1 or more", sel.MaxConnections)
	}
	return nil
}

// scaled multiplies burst, warmup and samples, rounding up, between the floors and what the counts may be at all.
func (p Profile) scaled(f float64, floors Floors) Profile {
	p.Messages = scaleCount(p.Messages, f, floors.Windows*p.Window, maxMessages/p.Connections)
	p.Warmup = scaleCount(p.Warmup, f, floors.Warmup, maxRounds/p.Connections)
	p.Samples = scaleCount(p.Samples, f, floors.Samples, maxRounds/p.Connections)
	return p
}

// scaleCount never lifts n to a floor above n itself: 20 samples stay 20 under a floor of 100.
func scaleCount(n int, f float64, floor, limit int) int {
	scaled := int(math.Ceil(min(float64(n)*f, float64(limit))))
	return max(scaled, min(floor, n))
}

// selectedColumns returns the published columns, then extras and bound drivers, in file order and then in the order they were named.
// An extra that an only clause names is taken as asked for.
func (m *Matrix) selectedColumns(sel Selection) ([]Variant, error) {
	asked := map[string]bool{}
	for _, e := range sel.Extras {
		if err := m.askExtra(e, asked); err != nil {
			return nil, err
		}
	}
	bound, err := m.bindDrivers(sel.Drivers, asked)
	if err != nil {
		return nil, err
	}
	for _, name := range namedVariants(sel.Only) {
		asked[name] = true
	}
	columns := slices.DeleteFunc(slices.Clone(m.Variants), func(v Variant) bool { return v.Extra && !asked[v.Name] })
	for i, v := range columns {
		if slices.Contains(sel.Drivers, v.Driver) {
			columns[i].Image = "" // a bound file takes its place
		}
		if core := sel.Cores[v.Driver]; core != "" {
			columns[i].Name, columns[i].Driver = v.Name+"@"+core, v.Driver+"@"+core
		}
	}
	columns = append(columns, bound...)
	if len(columns) == 0 {
		return nil, fmt.Errorf("matrix %s: has no columns of its own: bind drivers with --driver NAME=PATH", m.Name)
	}
	return columns, nil
}

func (m *Matrix) askExtra(name string, asked map[string]bool) error {
	var names []string
	for _, v := range m.Variants {
		if v.Extra {
			names = append(names, v.Name)
			asked[v.Name] = asked[v.Name] || name == "all" || name == v.Name
		}
	}
	if name != "all" && !slices.Contains(names, name) {
		return fmt.Errorf("extra column %q: choose from %s, all", name, strings.Join(names, ", "))
	}
	return nil
}

// bindDrivers turns bound names that are no column into columns made from the template; the others select the column they name.
func (m *Matrix) bindDrivers(names []string, asked map[string]bool) ([]Variant, error) {
	var bound []Variant
	for i, n := range names {
		if !name.MatchString(n) {
			return nil, fmt.Errorf("driver %q: not a name: want lower-case letters, digits, dots and dashes", n)
		}
		if slices.Contains(names[:i], n) {
			return nil, fmt.Errorf("driver %s: bound twice", n)
		}
		if _, ok := m.variant(n); ok {
			asked[n] = true
			continue
		}
		v := m.Bound
		v.Name, v.Driver = n, n
		bound = append(bound, v)
	}
	return bound, nil
}
