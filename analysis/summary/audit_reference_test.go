package summary

import (
	"strings"
	"testing"

	"transportbench/artifacts/reference"
)

func published(t *testing.T) *reference.Reference {
	t.Helper()
	ref, err := reference.Load("../../artifacts/reference/2026-10-12")
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func TestSpreadOfThePublishedTables(t *testing.T) {
	cells, err := ReferenceRanges(published(t))
	if err != nil {
		t.Fatal(err)
	}
	want := Spread{Pairs: 420, Overlap: 150, RakNetPairs: 120, RakNetOverlap: 97, Cells: 140, Over20: 36, Over50: 7, Short: 51}
	if got := NewSpread(cells); got != want {
		t.Errorf("spread %+v\nwant   %+v", got, want)
	}
}

func TestTouchingRangesOverlap(t *testing.T) {
	cells := []CellRange{{"p", "raknet-send", 2, 1, 3, 1}, {"p", "raknet-batch", 4, 3, 5, 1}, {"q", "raknet-send", 4, 3, 5, 1}, {"p", "tcp", 6, 5.5, 7, 0.5}}
	want := Spread{Pairs: 3, Overlap: 1, RakNetPairs: 1, RakNetOverlap: 1, Cells: 4, Over20: 4, Over50: 1, Short: 1}
	cells[1].Min, cells[2].Min = 3, 4.9
	want.Over20, want.Over50 = 3, 1
	if got := NewSpread(cells); got != want {
		t.Errorf("spread %+v\nwant   %+v", got, want)
	}
}

func TestPublishedTablesPassTheirAudit(t *testing.T) {
	a := NewAudit()
	AuditReference(a, published(t))
	for _, f := range a.Findings {
		if f.Level == LevelFail {
			t.Errorf("%+v", f)
		}
	}
	for _, rule := range []string{"range-order", "quantile-order", "window-ceiling", "rss-samples", "implied-mean", "measurements", "amended"} {
		if a.Checked[rule] == 0 {
			t.Errorf("rule %s looked at nothing", rule)
		}
	}
	if a.Checked["range-order"] != 203*2+140+56*2+7*3 || a.Checked["window-ceiling"] != 7 || a.Checked["implied-mean"] != 56 {
		t.Errorf("checked %v", a.Checked)
	}
}

func TestReferenceAuditFindsWrongNumbers(t *testing.T) {
	set := func(cell, metric string, change func(*reference.Quantity)) func(*reference.Reference) {
		return func(r *reference.Reference) {
			c, _ := r.Find(cell)
			q := c.Metrics[metric]
			change(&q)
			c.Metrics[metric] = q
		}
	}
	for rule, damage := range map[string]func(*reference.Reference){
		"range-order":    set("single-800B-1c-l0-d0/tcp", Throughput, func(q *reference.Quantity) { q.Median = q.Max + 1 }),
		"quantile-order": set("sparse-800B-1c-l0-d0/tcp", SparseP95, func(q *reference.Quantity) { q.Max = 1e6 }),
		"window-ceiling": set("single-800B-1c-l1-d5/kcp-c", Throughput, func(q *reference.Quantity) { q.Max = 4.95 }),
		"rss-samples":    set("loaded-64B-64c-l0-d0/kcp-c", ClientRSS, func(q *reference.Quantity) { q.Min = 1.9 }),
		"measurements":   func(r *reference.Reference) { r.Cells = r.Cells[1:] },
	} {
		t.Run(rule, func(t *testing.T) {
			ref, a := published(t), NewAudit()
			damage(ref)
			AuditReference(a, ref)
			var got []string
			for _, f := range a.Findings {
				if f.Level == LevelFail {
					got = append(got, f.Rule)
				}
			}
			if strings.Join(got, ",") != rule {
				t.Errorf("found %v", got)
			}
		})
	}
}
