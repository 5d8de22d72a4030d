package report

import "fmt"

// effectsView is the section of comparisons between columns.
type effectsView struct {
	Primary, Other []effectView
}

type effectTable struct {
	Caption string
	Rows    []effectView
}

// Given says whether there is any comparison.
func (v effectsView) Given() bool { return len(v.Primary)+len(v.Other) > 0 }

// PrimaryTable holds what the plan declared.
func (v effectsView) PrimaryTable() effectTable {
	return effectTable{"Comparisons declared in the plan", v.Primary}
}

// OtherTable holds everything else.
func (v effectsView) OtherTable() effectTable {
	return effectTable{"Exploratory comparisons", v.Other}
}

type effectView struct{ Profile, Metric, Pair, Ratio, N, Verdict, Note string }

func (b *builder) effects() effectsView {
	var v effectsView
	for _, e := range b.in.Effects {
		one := effectView{
			Profile: e.Profile, Metric: e.Metric, Pair: e.Variant + " / " + e.Base, N: fmt.Sprint(e.N), Verdict: e.Verdict, Note: e.Note,
			Ratio: fmt.Sprintf("%.2f", e.Ratio),
		}
		if e.Lo < e.Hi {
			one.Ratio += fmt.Sprintf(" [%.2f, %.2f]", e.Lo, e.Hi)
		}
		if !e.Distinct && one.Verdict == "" {
			one.Verdict = "="
		}
		if e.Primary {
			v.Primary = append(v.Primary, one)
		} else {
			v.Other = append(v.Other, one)
		}
	}
	return v
}
