package report

import (
	"fmt"
	"io"

	"transportbench/analysis/stats"
	"transportbench/analysis/summary"
)

// footer states what the tables support and what they do not show.
func footer(w io.Writer, s *summary.Summary) {
	t := s.Totals()
	fmt.Fprintf(w, "\n## What stands behind these tables\n\n")
	fmt.Fprintf(w, "* %s planned runs: %s ok, %s failed, %s unsupported, %s not run.\n",
		thousands(t.Planned), thousands(t.OK), thousands(t.Failed), thousands(t.Unsupported), thousands(t.NotRun))
	for _, n := range s.RunCounts() {
		fmt.Fprintf(w, "* n=%d: the range covers the true median with probability %.1f %%; one more run falls outside it with probability %.0f %%.\n",
			n, 100*stats.MedianCoverage(n), 100*stats.OutsideChance(n))
	}
	for _, v := range s.Variants {
		if drops, ok := s.Max(v, summary.RcvbufDrop); ok && drops > 0 {
			fmt.Fprintf(w, "* %s: at most %s UDP receive-buffer drops in one run.\n", v, thousands(int(drops)))
		}
	}
	fmt.Fprintln(w, "* With fewer than six runs no interval is printed and nothing is called faster: differences inside the ranges are not distinguished.")
	fmt.Fprintln(w, "* RSS is the whole process, excludes kernel socket buffers, and client and server need not peak together.")
	fmt.Fprintln(w, "* Loopback is CPU-bound, loss is independent per packet, and this is one machine. RakNet, KCP and raw UDP do not yield to other traffic.")
}
