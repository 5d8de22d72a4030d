package stats

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// published returns ln-scale standard deviations of three runs, by profile and column, from the throughput cells published
// on 12 October 2026. Only their spread is used; the order of the runs in time is not known.
func published(t *testing.T) [][]float64 {
	f, err := os.Open("testdata/published-spread.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all [][]float64
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		var row []float64
		for _, field := range strings.Split(s.Text(), "\t")[1:] {
			sd, err := strconv.ParseFloat(field, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, sd)
		}
		all = append(all, row)
	}
	return all
}

func TestPublishedDispersion(t *testing.T) {
	var within, df float64
	for _, row := range published(t) {
		logs := make([]float64, len(row))
		for i, sd := range row {
			logs[i] = 2 * math.Log(sd)
		}
		within += Variance(logs) * float64(len(logs)-1)
		df += float64(len(logs) - 1)
	}
	if v := within / df; math.Abs(v-3.49) > 0.02 {
		t.Errorf("var ln s^2 within a profile %.3f, want 3.49", v)
	} else if d0 := 2 * trigammaInverse(v-trigamma(1)); math.Abs(d0-1.85) > 0.02 {
		t.Errorf("d0 %.3f, want 1.85", d0)
	}
}
