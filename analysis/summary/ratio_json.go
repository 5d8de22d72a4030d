package summary

import (
	"encoding/json"
	"io"
)

type ratioProfileDoc struct {
	Profile  string     `json:"profile"`
	Metric   string     `json:"metric"`
	Unit     string     `json:"unit"`
	Lossy    bool       `json:"lossy"`
	Blocks   int        `json:"blocks"`
	Gate     number     `json:"gate_p"`
	Adjusted number     `json:"gate_p_holm"`
	Ratios   []ratioDoc `json:"ratios"`
	Notes    []string   `json:"notes,omitempty"`
}

type ratioDoc struct {
	Num      string    `json:"numerator"`
	Den      string    `json:"denominator"`
	Role     string    `json:"role"`
	N        int       `json:"n"`
	NumSpan  spanDoc   `json:"numerator_runs"`
	DenSpan  spanDoc   `json:"denominator_runs"`
	Effect   number    `json:"ratio"`
	Interval [2]number `json:"interval_95"`
	All      [2]number `json:"interval_95_simultaneous"`
	Range    [2]number `json:"range_over_blocks"`
	P        number    `json:"p"`
	Adjusted number    `json:"p_adjusted"`
	Margin   number    `json:"equality_margin"`
	Verdict  string    `json:"verdict"`
	Claim    bool      `json:"claim"`
	Equal    bool      `json:"equal"`
	Needed   int       `json:"needed_blocks,omitempty"`
	Bimodal  bool      `json:"bimodal,omitempty"`
	Flags    []string  `json:"flags,omitempty"`
}

type spanDoc struct {
	N      int    `json:"n"`
	Median number `json:"median"`
	Min    number `json:"min"`
	Max    number `json:"max"`
}

func newSpanDoc(s Span) spanDoc { return spanDoc{s.N, number(s.Median), number(s.Min), number(s.Max)} }

// WriteRatios writes the profiles as one indented JSON array; a number that does not exist is null.
func WriteRatios(w io.Writer, profiles []RatioProfile) error {
	docs := []ratioProfileDoc{}
	for _, p := range profiles {
		d := ratioProfileDoc{p.Profile, p.Metric, p.Unit, p.Lossy, p.Blocks, number(p.Gate), number(p.Adjusted), []ratioDoc{}, p.Notes}
		for _, r := range p.Ratios {
			d.Ratios = append(d.Ratios, ratioDoc{Num: r.Num, Den: r.Den, Role: r.Role, N: r.N, NumSpan: newSpanDoc(r.NumSpan), DenSpan: newSpanDoc(r.DenSpan),
				Effect: number(r.Effect), Interval: [2]number{number(r.Lo), number(r.Hi)}, All: [2]number{number(r.AllLo), number(r.AllHi)},
				Range: [2]number{number(r.Least), number(r.Greatest)}, P: number(r.P), Adjusted: number(r.Adjusted), Margin: number(r.Margin),
				Verdict: r.Verdict, Claim: r.Claim, Equal: r.Equal, Needed: r.Needed, Bimodal: r.Bimodal, Flags: r.Flags})
		}
		docs = append(docs, d)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(docs)
}
