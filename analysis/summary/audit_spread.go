package summary

import (
	"strings"

	"transportbench/artifacts/reference"
	"transportbench/transports/wire"
)

// CellRange is the throughput of one cell: what Spread counts.
type CellRange struct {
	Profile, Variant string
	Median, Min, Max float64 // B/s
	BurstS           float64 // seconds a burst takes at the median
}

// Spread says how far ranges alone can tell columns apart, and how noisy and short the cells are.
type Spread struct {
	Pairs         int `json:"pairs"`          // of two columns in one profile
	Overlap       int `json:"overlap"`        // of these, ranges that share a point
	RakNetPairs   int `json:"raknet_pairs"`   // both columns are RakNet
	RakNetOverlap int `json:"raknet_overlap"` // of these
	Cells         int `json:"cells"`
	Over20        int `json:"over_20_percent"` // range above 20 % of the median
	Over50        int `json:"over_50_percent"`
	Short         int `json:"under_1_s"` // bursts under a second
}

// NewSpread counts over cells in any order.
func NewSpread(cells []CellRange) Spread {
	s := Spread{Cells: len(cells)}
	for i, a := range cells {
		wide := (a.Max - a.Min) / a.Median
		s.Over20 += one(wide > 0.20)
		s.Over50 += one(wide > 0.50)
		s.Short += one(a.BurstS < 1)
		for _, b := range cells[:i] {
			if a.Profile != b.Profile {
				continue
			}
			touch, raknet := one(a.Min <= b.Max && b.Min <= a.Max), one(strings.HasPrefix(a.Variant, "raknet-") && strings.HasPrefix(b.Variant, "raknet-"))
			s.Pairs, s.Overlap = s.Pairs+1, s.Overlap+touch
			s.RakNetPairs, s.RakNetOverlap = s.RakNetPairs+raknet, s.RakNetOverlap+raknet*touch
		}
	}
	return s
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ReferenceRanges returns the throughput cells of published tables.
func ReferenceRanges(ref *reference.Reference) ([]CellRange, error) {
	var out []CellRange
	for _, c := range ref.Cells {
		q, ok := c.Metrics[Throughput]
		if !ok {
			continue
		}
		m, lo, hi, err := q.Base()
		if err != nil {
			return nil, err
		}
		out = append(out, CellRange{c.Profile, c.Variant, m, lo, hi, float64(c.Messages) * float64(c.PayloadBytes) / m})
	}
	return out, nil
}

// Ranges returns the throughput cells of the single and concurrent suites of a summary.
func (s *Summary) Ranges() []CellRange {
	var out []CellRange
	for _, c := range s.Cells {
		row, ok := s.Rows[c][Throughput]
		p := s.Profiles[c.Profile]
		if !ok || row.Median <= 0 || p.Suite != wire.SuiteSingle && p.Suite != wire.SuiteConcurrent {
			continue
		}
		burst := float64(p.Connections) * float64(p.Messages) * float64(p.PayloadBytes)
		out = append(out, CellRange{c.Profile, c.Variant, row.Median, row.Min, row.Max, burst / row.Median})
	}
	return out
}
