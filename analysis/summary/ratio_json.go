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
	Gate     Number     `json:"gate_p"`
	Adjusted Number     `json:"gate_p_holm"`
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
	Effect   Number    `json:"ratio"`
	Interval [2]Number `json:"interval_95"`
	All      [2]Number `json:"interval_95_simultaneous"`
	Range    [2]Number `json:"range_over_blocks"`
	P        Number    `json:"p"`
	Adjusted Number    `json:"p_adjusted"`
	Margin   Number    `json:"equality_margin"`
	Verdict  string    `json:"verdict"`
	Claim    bool      `json:"claim"`
	Equal    bool      `json:"equal"`
	Needed   int       `json:"needed_blocks,omitempty"`
	Bimodal  bool      `json:"bimodal,omitempty"`
	Flags    []string  `json:"flags,omitempty"`
}

type spanDoc struct {
	N      int    `json:"n"`
	Median Number `json:"median"`
	Min    Number `json:"min"`
	Max    Number `json:"max"`
}

func newSpanDoc(s Span) spanDoc { return spanDoc{s.N, Number(s.Median), Number(s.Min), Number(s.Max)} }

// WriteRatios writes the profiles as one indented JSON array; a number that does not exist is null.
func WriteRatios(w io.Writer, profiles []RatioProfile) error {
	docs := []ratioProfileDoc{}
	for _, p := range profiles {
		d := ratioProfileDoc{p.Profile, p.Metric, p.Unit, p.Lossy, p.Blocks, Number(p.Gate), Number(p.Adjusted), []ratioDoc{}, p.Notes}
		for _, r := range p.Ratios {
			d.Ratios = append(d.Ratios, ratioDoc{Num: r.Num, Den: r.Den, Role: r.Role, N: r.N, NumSpan: newSpanDoc(r.NumSpan), DenSpan: newSpanDoc(r.DenSpan),
				Effect: Number(r.Effect), Interval: [2]Number{Number(r.Lo), Number(r.Hi)}, All: [2]Number{Number(r.AllLo), Number(r.AllHi)},
				Range: [2]Number{Number(r.Least), Number(r.Greatest)}, P: Number(r.P), Adjusted: Number(r.Adjusted), Margin: Number(r.Margin),
				Verdict: r.Verdict, Claim: r.Claim, Equal: r.Equal, Needed: r.Needed, Bimodal: r.Bimodal, Flags: r.Flags})
		}
		docs = append(docs, d)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(docs)
}
