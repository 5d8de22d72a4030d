package replication

import (
	"errors"
	"slices"
	"strings"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

// Verdicts of a rung and of the whole.
const (
	Confirmed   = "confirmed" // shown again
	Different   = "different" // shown to be otherwise
	Undecided   = "undecided" // too few runs, or no run
	ShownOnly   = "shown"     // an effect with an interval; another class of machine never refutes a magnitude
	Across      = "confirmed, but across API modes"
	Identical   = "identical"
	Unpublished = "not published"
)

// Verdict is the ladder with its answers, lowest rung first.
type Verdict struct {
	Original   Original           `json:"original"`
	Artifact   string             `json:"artifact"`
	Claims     []string           `json:"claims,omitempty"`
	Identity   Identity           `json:"identity"`
	Orders     []OrderVerdict     `json:"orders"`
	OtherClass string             `json:"other_class,omitempty"` // why magnitudes are not judged; empty: one class
	Magnitudes []MagnitudeVerdict `json:"magnitudes"`
	Columns    []ColumnVerdict    `json:"columns"`
	Left       []string           `json:"left_out,omitempty"`
	Overall    string             `json:"verdict"`
}

// Identity is rung 1: is it the same experiment with the same programs? Differences decide nothing, they explain.
type Identity struct {
	Verdict string   `json:"verdict"`
	Same    []string `json:"same,omitempty"`
	Differs []string `json:"differs,omitempty"`
}

// Judge answers a ladder from the artifact that was measured for it.
func Judge(l *Ladder, a *artifacts.Artifact, s *summary.Summary) (*Verdict, error) {
	v := &Verdict{Original: l.Original, Artifact: a.Manifest.ID, Claims: l.Claims, Left: l.Left, Identity: identity(l, a.Manifest)}
	var err error
	if v.Orders, err = judgeOrders(l, a, s); err != nil {
		return nil, err
	}
	if err := class(l, a.Manifest); err != nil {
		v.OtherClass = err.Error()
	}
	v.Magnitudes, v.Columns = judgeMagnitudes(l, a, s, v.OtherClass == "")
	v.Overall = v.overall()
	return v, nil
}

// class says why magnitudes of the two cannot agree or differ, or nothing.
func class(l *Ladder, m artifacts.Manifest) error {
	if l.Original.Class == nil {
		return errors.New("the original was measured on another machine")
	}
	return summary.SameClass(*l.Original.Class, summary.ClassOf(m))
}

// overall: one order or one magnitude that is shown to be otherwise makes the replication different; an order that is open leaves it
// open; magnitudes that are open do not, because few runs can show that two numbers are equal.
func (v *Verdict) overall() string {
	words := map[string]int{}
	for _, o := range v.Orders {
		words[o.Verdict]++
	}
	equal := 0
	for _, m := range v.Magnitudes {
		switch m.Verdict {
		case Different:
			return Different
		case Confirmed:
			equal++
		}
	}
	switch {
	case words[Different] > 0:
		return Different
	case words[Undecided] > 0, len(v.Orders) == 0 && equal == 0:
		return Undecided
	}
	return Confirmed
}

// identity compares digests, not numbers.
func identity(l *Ladder, m artifacts.Manifest) Identity {
	var id Identity
	if l.Original.PlanHash == "" {
		id.Verdict = Unpublished
		return id
	}
	id.compare("plan", l.Original.PlanHash, m.PlanHash)
	id.compare("launch", l.Original.Launch, m.Launch)
	var names []string
	for _, c := range l.Cells {
		if c.Driver != "" && !slices.Contains(names, c.Driver) {
			names = append(names, c.Driver)
		}
	}
	for _, name := range names {
		id.compare("driver "+name, l.Original.Drivers[name], m.Drivers[name].SHA256)
	}
	if id.Verdict = Identical; len(id.Differs) > 0 {
		id.Verdict = Different
	}
	return id
}

func (id *Identity) compare(what, was, is string) {
	switch {
	case was == "" && is == "":
		return // neither says
	case was == is:
		id.Same = append(id.Same, what)
	case is == "":
		id.Differs = append(id.Differs, what+" is not here")
	default:
		id.Differs = append(id.Differs, what)
	}
}

// String names the rungs in one line.
func (v *Verdict) String() string {
	orders, magnitudes := map[string]int{}, map[string]int{}
	for _, o := range v.Orders {
		orders[strings.TrimSuffix(o.Verdict, Across[len(Confirmed):])]++
	}
	for _, m := range v.Magnitudes {
		magnitudes[m.Verdict]++
	}
	return v.Overall + ": identity " + v.Identity.Verdict + "; " + count(len(v.Orders), "order", orders, Confirmed, Different, Undecided) + "; " +
		count(len(v.Magnitudes), "magnitude", magnitudes, Confirmed, Different, Undecided, ShownOnly)
}
