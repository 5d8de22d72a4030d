package stats

import (
	"math"
	"testing"
)

// TestStudentizedRangeTable compares with the printed 5 % table (Harter 1960, as in every textbook; three or four digits).
func TestStudentizedRangeTable(t *testing.T) {
	for _, c := range []struct {
		k    int
		df   float64
		want float64
	}{
		{2, 1, 17.97}, {2, 2, 6.085}, {3, 2, 8.331}, {3, 10, 3.877}, {4, 3, 6.825}, {5, 5, 5.673}, {7, 2, 12.43}, {7, 4, 7.053}, {7, 12, 4.950},
		{7, 20, 4.620}, {10, 10, 5.599}, {10, 60, 4.646}, {20, 20, 5.714}, {7, math.Inf(1), 4.170}, {2, math.Inf(1), 2.772},
	} {
		got := NewStudentizedRange(c.k).Quantile(0.95, c.df)
		if math.Abs(got/c.want-1) > 6e-4 {
			t.Errorf("q(.95; %d, %v) = %.4f, the table has %v", c.k, c.df, got, c.want)
		}
	}
}

func TestTwoColumnsAreStudentsT(t *testing.T) {
	r := NewStudentizedRange(2)
	for _, df := range []float64{1, 1.7, 3.85, 12, 200} {
		want := math.Sqrt2 * TQuantile(0.975, df)
		if got := r.Quantile(0.95, df); math.Abs(got/want-1) > 1e-5 {
			t.Errorf("df %v: q = %v, sqrt(2) t = %v", df, got, want)
		}
	}
}

func TestSimultaneousIsWiderBySpecifiedFactor(t *testing.T) {
	got := NewStudentizedRange(7).Quantile(0.95, 12) / (math.Sqrt2 * TQuantile(0.975, 12))
	if math.Round(got*100) != 161 {
		t.Errorf("simultaneous over single at 12 df: %.4f, want 1.61", got)
	}
}
