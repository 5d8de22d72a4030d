package report

import (
	"fmt"
	"io"

	"transportbench/analysis/summary"
)

// footer states what the tables support and what they do not show.
func footer(w io.Writer, s *summary.Summary, why *reasons) {
	for i, text := range why.texts {
		if i == 0 {
			fmt.Fprintf(w, "\n## Not measured\n\n")
		}
		fmt.Fprintf(w, "* [%d] %s (%s)\n", i+1, escape(text), why.count(i))
	}
	t := s.Totals()
	fmt.Fprintf(w, "\n## What stands behind these tables\n\n")
	fmt.Fprintf(w, "* %s planned runs: %s ok, %s failed, %s unsupported, %s not run.\n",
		thousands(t.Planned), thousands(t.OK), thousands(t.Failed), thousands(t.Unsupported), thousands(t.NotRun))
	for _, text := range support(s) {
		fmt.Fprintf(w, "* %s\n", text)
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
