package summary

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/artifacts/reference"
)

// publishedRuns is the number of runs whose range stats.RangeOfThree reads.
const publishedRuns = 3

// Wall is the mean time of one run by cell (<profile>/<variant>), in nanoseconds, everything around the burst included.
type Wall map[string]float64

// WallOf averages the last attempts of an artifact that were ok and had as many messages as ref printed for the cell.
func WallOf(ref *reference.Reference, a *artifacts.Artifact) Wall {
	last := map[string]artifacts.Record{}
	for _, r := range a.Records {
		last[r.RunID] = r
	}
	sum, n := Wall{}, map[string]float64{}
	for _, planned := range a.Plan {
		r, ran := last[planned.RunID]
		id := r.Profile.ID + "/" + r.Variant.Name
		cell, known := ref.Find(id)
		if ran && known && r.Outcome == artifacts.OutcomeOK && r.Profile.Connections*r.Profile.Messages == cell.Messages {
			sum[id] += float64(r.WallNS)
			n[id]++
		}
	}
	for id := range sum {
		sum[id] /= n[id]
	}
	return sum
}

// ClaimPower says what it takes to decide one published statement, by its hardest pair.
type ClaimPower struct {
	ID       string `json:"id"`
	Cells    int    `json:"cells"`
	Runs     int    `json:"runs"`             // of every cell; 0: no number would do
	Pair     string `json:"pair"`             // the one that needs most
	Visible  Number `json:"smallest_visible"` // ratio that so many runs show in every pair; null: none
	Three    Number `json:"smallest_visible_of_3"`
	Minutes  Number `json:"minutes"`            // null: nothing says how long a cell takes
	Timed    int    `json:"cells_timed"`        // by the artifact; the others by their printed burst
	Unknown  int    `json:"cells_without_time"` // left out of the minutes
	pairs    int
	hardest  int     // runs, not capped
	variance float64 // greatest of its pairs
}

// Power takes effect and noise of every pair from the published medians and ranges (columns taken as independent: blocks were not
// published) and the time of a run from wall, else from the published throughput, which leaves out warmup, start and end.
func Power(ref *reference.Reference, wall Wall) ([]ClaimPower, error) {
	var out []ClaimPower
	for _, c := range ref.Claims.Claims {
		p := ClaimPower{ID: c.ID}
		for _, order := range c.Orders {
			p.pairs += len(order) - 1
		}
		cells := map[string]bool{}
		for _, order := range c.Orders {
			for i, point := range order {
				cells[point.Cell] = true
				if i == 0 {
					continue
				}
				if err := p.add(ref, order[i-1], point); err != nil {
					return nil, fmt.Errorf("claim %s: %w", c.ID, err)
				}
			}
		}
		p.finish(ref, cells, wall)
		out = append(out, p)
	}
	return out, nil
}

func (p *ClaimPower) add(ref *reference.Reference, greater, less reference.Point) error {
	a, okA := ref.Find(greater.Cell)
	b, okB := ref.Find(less.Cell)
	if !okA || !okB || a.N != publishedRuns || b.N != publishedRuns {
		return fmt.Errorf("%s and %s: want cells of %d runs", greater.Cell, less.Cell, publishedRuns)
	}
	x, y := a.Metrics[greater.Metric], b.Metrics[less.Metric]
	sa, sb := deviation(x), deviation(y)
	v := sa*sa + sb*sb
	p.variance = max(p.variance, v)
	if n := stats.Required(v, max(0, math.Log(x.Median/y.Median)), p.pairs); n > p.hardest {
		p.hardest, p.Pair = n, a.Variant+" > "+b.Variant+" "+greater.Metric+" "+a.Profile
	}
	return nil
}

func deviation(q reference.Quantity) float64 {
	return stats.RangeOfThree(math.Log(q.Min), math.Log(q.Max))
}

func (p *ClaimPower) finish(ref *reference.Reference, cells map[string]bool, wall Wall) {
	p.Cells, p.Three = len(cells), Number(math.Exp(stats.Visible(p.variance, publishedRuns, p.pairs)))
	p.Visible, p.Minutes = Number(math.NaN()), Number(math.NaN())
	total := 0.0
	for _, id := range slices.Sorted(maps.Keys(cells)) {
		ns, ok := wall[id]
		if ok {
			p.Timed++
		} else if ns, ok = publishedBurst(ref, id); !ok {
			p.Unknown++
		}
		total += ns
	}
	if p.hardest >= 1e9 {
		return
	}
	p.Runs = max(publishedRuns, p.hardest) // fewer have no range
	p.Visible = Number(math.Exp(stats.Visible(p.variance, p.Runs, p.pairs)))
	if p.Unknown < p.Cells {
		p.Minutes = Number(total * float64(p.Runs) / 60e9)
	}
}

// publishedBurst is the burst alone, in nanoseconds: payload over the printed throughput.
func publishedBurst(ref *reference.Reference, id string) (float64, bool) {
	c, _ := ref.Find(id)
	rate, _, _, err := c.Metrics[Throughput].Base()
	if err != nil || rate <= 0 {
		return 0, false
	}
	return 1e9 * float64(c.Messages) * float64(c.PayloadBytes) / rate, true
}
