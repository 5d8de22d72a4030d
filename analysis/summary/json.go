package summary

import (
	"encoding/json"
	"io"
	"math"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// AnalysisVersion counts changes of any derived byte that the same runs give.
const AnalysisVersion = 2

// schemaJSON names the layout of summary.json; artifacts/README.md specifies it.
const schemaJSON = "transportbench-summary/1"

// Number prints with Digits significant digits, and null where there is none: NaN.
type Number float64

// MarshalJSON keeps derived files the same on every processor.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return []byte(Format(float64(n))), nil
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

type document struct {
	Schema   string                    `json:"schema"`
	Analysis int                       `json:"analysis"`
	Artifact identity                  `json:"artifact"`
	Totals   totalsDoc                 `json:"totals"`
	Support  []supportDoc              `json:"support"`
	RSS      map[string]artifacts.RSS  `json:"rss"`
	Columns  []columnDoc               `json:"columns"`
	Spread   Spread                    `json:"spread"`
	Profiles map[string]matrix.Profile `json:"profiles"`
	Cells    []cellDoc                 `json:"cells"`
}

type identity struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	Matrix    string `json:"matrix"`
	PlanHash  string `json:"plan_hash"`
	Runtime   string `json:"runtime"`
	Placement string `json:"placement"`
	Shared    bool   `json:"shared"`
	Journal   string `json:"journal_head"`
}

type totalsDoc struct {
	Planned     int `json:"planned"`
	OK          int `json:"ok"`
	Failed      int `json:"failed"`
	Unsupported int `json:"unsupported"`
	NotRun      int `json:"not_run"`
}

// supportDoc says what n runs of a cell can and cannot say.
type supportDoc struct {
	N             int    `json:"n"`
	MedianInRange Number `json:"median_in_range"`
	NextOutside   Number `json:"next_outside"`
	Interval      *ranks `json:"median_interval"` // null: no 95 % interval of a median with so few runs
}

type ranks struct {
	Low      int    `json:"low"` // from 1
	High     int    `json:"high"`
	Coverage Number `json:"coverage"`
}

type columnDoc struct {
	Variant  string `json:"variant"`
	DropsMax Number `json:"udp_drops_max"` // most receive-buffer drops in one run; null: not counted
	OK       int    `json:"ok"`
	Failed   int    `json:"failed"`
	Void     bool   `json:"void"` // more than 1 % failed
}

type cellDoc struct {
	Profile     string         `json:"profile"`
	Variant     string         `json:"variant"`
	OK          int            `json:"ok"`
	Failed      int            `json:"failed"`
	Unsupported int            `json:"unsupported"`
	NotRun      int            `json:"not_run"`
	Reason      string         `json:"reason,omitempty"`
	Flags       map[string]int `json:"flags,omitempty"` // how many of its runs carry a label
	Metrics     []metricDoc    `json:"metrics"`
}

type metricDoc struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Better  int      `json:"better"`
	N       int      `json:"n"`
	Median  Number   `json:"median"`
	Min     Number   `json:"min"`
	Max     Number   `json:"max"`
	Values  []Number `json:"values"`
	Runs    []string `json:"runs"`
	Samples int      `json:"samples,omitempty"`     // RTTs behind a percentile, of the run that has least
	Upper   *bool    `json:"upper_bound,omitempty"` // of a percentile: so many RTTs have a 95 % upper bound
}

// WriteJSON writes summary.json of the artifact that s was built from.
func (s *Summary) WriteJSON(w io.Writer, art *artifacts.Artifact) error {
	m := art.Manifest
	t := s.Totals()
	doc := document{
		Schema: schemaJSON, Analysis: AnalysisVersion, Totals: totalsDoc(t), Support: []supportDoc{}, RSS: m.RSS, Spread: NewSpread(s.Ranges()), Profiles: s.Profiles,
		Artifact: identity{m.ID, m.Kind, m.Matrix.Name, m.PlanHash, m.Runtime, m.Placement.Label, m.Shared, art.Head}, Columns: []columnDoc{}, Cells: []cellDoc{},
	}
	for _, n := range s.RunCounts() {
		doc.Support = append(doc.Support, support(n))
	}
	for _, v := range s.Variants {
		doc.Columns = append(doc.Columns, s.column(v))
	}
	flags, samples := labels(art), seriesSizes(art)
	for _, c := range s.Cells {
		doc.Cells = append(doc.Cells, s.cell(c, flags[c], samples))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(doc)
}

func support(n int) supportDoc {
	d := supportDoc{N: n, MedianInRange: Number(stats.MedianCoverage(n)), NextOutside: Number(stats.OutsideChance(n))}
	if lo, hi, coverage, ok := stats.MedianInterval(n); ok {
		d.Interval = &ranks{lo, hi, Number(coverage)}
	}
	return d
}

func (s *Summary) column(variant string) columnDoc {
	d := columnDoc{Variant: variant, DropsMax: Number(math.NaN())}
	if most, ok := s.Max(variant, RcvbufDrop); ok {
		d.DropsMax = Number(most)
	}
	for c, st := range s.Status {
		if c.Variant == variant {
			d.OK, d.Failed = d.OK+st.OK, d.Failed+st.Failed
		}
	}
	d.Void = float64(d.Failed) > voidShare*float64(d.OK+d.Failed)
	return d
}
