package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// reasons numbers why cells have no number, so that a missing driver is explained once and not in every cell of its column.
type reasons struct {
	texts []string
	cells []int // how many cells refer to it
}

// mark returns the number of a reason in brackets.
func (r *reasons) mark(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	i := slices.Index(r.texts, text)
	if i < 0 {
		i = len(r.texts)
		r.texts, r.cells = append(r.texts, text), append(r.cells, 0)
	}
	r.cells[i]++
	return fmt.Sprintf("[%d]", i+1)
}

// count says how many cells a reason stands for.
func (r *reasons) count(i int) string {
	if r.cells[i] == 1 {
		return "1 cell"
	}
	return thousands(r.cells[i]) + " cells"
}

// wrapAt is the width at which terminal text is broken, in characters.
const wrapAt = 100

// wrapped writes text with a hanging indent; a word longer than a line stays whole.
func wrapped(w io.Writer, first, text string) {
	indent := strings.Repeat(" ", len(first))
	line, used := first, false
	for _, word := range strings.Fields(text) {
		if used && len([]rune(line))+1+len([]rune(word)) > wrapAt {
			fmt.Fprintln(w, line)
			line, used = indent, false
		}
		if used {
			line += " "
		}
		line, used = line+word, true
	}
	fmt.Fprintln(w, line)
}
