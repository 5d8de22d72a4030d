// Package report renders a summary as Markdown and terminal tables. It scales units; it does no arithmetic of its own.
package report

import (
	"fmt"
	"strconv"
	"strings"

	"transportbench/analysis/summary"
)

const (
	mib = 1 << 20
	ms  = 1e6 // ns
	us  = 1e3 // ns
)

// none stands in a cell that has nothing to say; no cell is blank.
const none = "—"

// scaled renders median and range of a row in one unit, two decimals, the unit in every value, as published.
func scaled(r summary.Row, per float64, unit string) string {
	return fmt.Sprintf("%.2f %s (%.2f–%.2f %s)", r.Median/per, unit, r.Min/per, r.Max/per, unit)
}

// lost renders the share of lost echoes; a loss that two decimals hide still shows.
func lost(share float64) string {
	if share > 0 && share < 5e-5 {
		return "<0.01% lost"
	}
	return fmt.Sprintf("%.2f%% lost", 100*share)
}

// thousands renders a count with separators: 1,048,576.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent renders parts per million without trailing zeros: 1%, 0.5%.
func percent(ppm int) string { return strconv.FormatFloat(float64(ppm)/1e4, 'f', -1, 64) + "%" }

// escape keeps text inside its Markdown cell.
func escape(s string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ", "\r", " ").Replace(s)
}
