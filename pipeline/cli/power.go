package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"transportbench/analysis/summary"
	"transportbench/artifacts/reference"
)

// power prints what each published statement needs; from is an artifact that says how long runs take, or nothing.
func power(w io.Writer, from string, asJSON bool) error {
	ref, err := reference.Published()
	if err != nil {
		return fail(ExitUsage, err)
	}
	var wall summary.Wall
	if from != "" {
		a, _, err := loadSummary(from)
		if err != nil {
			return fail(ExitUsage, err)
		}
		wall = summary.WallOf(ref, a)
	}
	claims, err := summary.Power(ref, wall)
	if err != nil {
		return fail(ExitUsage, err)
	}
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(map[string]any{"reference": ref.Manifest.ID, "claims": claims})
	}
	return powerText(w, claims)
}

func powerText(w io.Writer, claims []summary.ClaimPower) error {
	tw := tabwriter.NewWriter(w, 2, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "claim\tcells\tof these timed\truns of each\tminutes\tsmallest visible ratio\twith 3 runs\thardest pair")
	for _, c := range claims {
		runs, minutes := fmt.Sprint(c.Runs), "-"
		if c.Runs == 0 {
			runs = "none would do"
		}
		if !math.IsNaN(float64(c.Minutes)) {
			minutes = fmt.Sprintf("%.1f", float64(c.Minutes))
			if c.Unknown > 0 {
				minutes += fmt.Sprintf(" without %d cells", c.Unknown)
			}
		}
		fmt.Fprintf(tw, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\n", c.ID, c.Cells, c.Timed, runs, minutes, factor(float64(c.Visible)), factor(float64(c.Three)), c.Pair)
	}
	return tw.Flush()
}
