package summary

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestJSONGolden(t *testing.T) {
	art, s := tiny(t)
	var b bytes.Buffer
	if err := s.WriteJSON(&b, art); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.json", b.Bytes())
	var doc document
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != schemaJSON || len(doc.Cells) != len(s.Cells) || doc.Totals != totalsDoc(s.Totals()) || doc.RSS["sparse"].StepKiB != 128 {
		t.Errorf("schema %q, %d cells, totals %+v", doc.Schema, len(doc.Cells), doc.Totals)
	}
	if n := doc.Support[0]; n.N != 3 || n.MedianInRange != 0.75 || n.NextOutside != 0.5 || n.Interval != nil {
		t.Errorf("support %+v", n)
	}
	for _, c := range doc.Cells {
		for _, m := range c.Metrics {
			if m.Name == SparseP99 && (m.Samples == 0 || *m.Upper != (m.Samples >= 299)) {
				t.Errorf("%s/%s: p99 of %d RTTs, upper bound %v", c.Profile, c.Variant, m.Samples, *m.Upper)
			}
		}
	}
}

func TestSupportGivesAnIntervalFromSixRuns(t *testing.T) {
	for n, want := range map[int][2]int{5: {}, 6: {1, 6}, 9: {2, 8}, 10: {2, 9}} {
		d := support(n)
		if (d.Interval != nil) != (want[0] > 0) || d.Interval != nil && (d.Interval.Low != want[0] || d.Interval.High != want[1]) {
			t.Errorf("n=%d: %+v", n, d.Interval)
		}
	}
}

func TestNumbersWithoutValueAreNull(t *testing.T) {
	b, err := json.Marshal([]Number{Number(math.NaN()), Number(math.Inf(1)), 1.0 / 3, 1e21})
	if err != nil || string(b) != "[null,null,0.333333333,1e+21]" {
		t.Errorf("%s %v", b, err)
	}
}

func TestCSVGolden(t *testing.T) {
	_, s := tiny(t)
	var b bytes.Buffer
	if err := s.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	golden(t, "summary.csv", b.Bytes())
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll() // refuses rows of unequal length
	if err != nil || rows[0][0] != "profile" || rows[len(rows)-1][0] == "" {
		t.Errorf("%d rows: %v", len(rows), err)
	}
}

func TestFinishAndMiddle(t *testing.T) {
	art, _ := tiny(t)
	r := art.Last()[len(art.Last())-1]
	res := *r.Client.Result
	r.Client.Result = &res
	res.PerConn = append(res.PerConn[:0:0], res.PerConn[:2]...)
	res.ElapsedNS, res.Bytes = 1000, 1600
	res.PerConn[0].BurstNS, res.PerConn[1].BurstNS = 1000, 500
	first, _ := finish(firstEnd)(&r)
	mid, _ := finish(medianEnd)(&r)
	last, _ := finish(lastEnd)(&r)
	// 800 B evenly over 1,000 ns: 640 B within 100-900; 800 B over 500 ns: 640 B within 100-500; 1,280 B in 800 ns.
	if rate, _ := middle80(&r); first != 500 || mid != 750 || last != 1000 || math.Abs(rate-1.6e9) > 1 {
		t.Errorf("first %v, median %v, last %v, middle %v", first, mid, last, rate)
	}
}
