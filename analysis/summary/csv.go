package summary

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"transportbench/pipeline/matrix"
)

// WriteCSV writes what summary.tsv holds with the profile in columns of its own, for spreadsheets (RFC 4180 with LF).
func (s *Summary) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := strings.Fields("profile variant suite payload_bytes connections loss_ppm delay_ns metric unit better n median min max ok failed unsupported not_run flags reason")
	if err := out.Write(head); err != nil {
		return err
	}
	for _, c := range s.Cells {
		p, st := s.Profiles[c.Profile], s.Status[c]
		suite, _, _ := strings.Cut(c.Profile, "-")
		left := []string{c.Profile, c.Variant, suite, "", "", "", ""}
		if p.ID != "" {
			copy(left[3:], []string{strconv.Itoa(p.PayloadBytes), strconv.Itoa(p.Connections), strconv.Itoa(p.Link.LossPPM), strconv.FormatInt(int64(p.Link.DelayNS), 10)})
		}
		flags := slices.Sorted(slices.Values(st.Flags))
		right := []string{strconv.Itoa(st.OK), strconv.Itoa(st.Failed), strconv.Itoa(st.Unsupported), strconv.Itoa(st.NotRun), strings.Join(flags, " "), clean(st.Reason)}
		for _, mid := range s.csvRows(c) {
			if err := out.Write(slices.Concat(left, mid, right)); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// csvRows renders a cell's metrics; a cell without a number has one row that says so.
func (s *Summary) csvRows(c matrix.Cell) [][]string {
	if len(s.Rows[c]) == 0 {
		return [][]string{{"", "", "", "0", "", "", ""}}
	}
	var rows [][]string
	for _, m := range Metrics() {
		if r, ok := s.Rows[c][m.Name]; ok {
			rows = append(rows, []string{m.Name, m.Unit, strconv.Itoa(m.Better), strconv.Itoa(r.N), Format(r.Median), Format(r.Min), Format(r.Max)})
		}
	}
	return rows
}
