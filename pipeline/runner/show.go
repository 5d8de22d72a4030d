package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"transportbench/artifacts"
)

// NewJSON shows a session as JSON lines, one Event each; README.md lists the fields.
func NewJSON(w io.Writer) Progress { return &jsonLines{enc: json.NewEncoder(w)} }

type jsonLines struct {
	enc *json.Encoder
	err error
}

func (j *jsonLines) Event(e Event) {
	if j.err == nil {
		j.err = j.enc.Encode(e)
	}
}

// Close reports the first line that could not be written: a reader that is gone must not stop a measurement.
func (j *jsonLines) Close() error {
	if j.err != nil {
		return fmt.Errorf("progress: %w", j.err)
	}
	return nil
}

// NewPlain shows a session as lines of text, for logs.
func NewPlain(w io.Writer) Progress { return plain{w} }

type plain struct{ w io.Writer }

func (p plain) Event(e Event) {
	if s := text(e); s != "" {
		_, _ = fmt.Fprintf(p.w, "%s\n", s) // a closed terminal must not stop a measurement
	}
}

func (plain) Close() error { return nil }

// text is one line about an event; none for those that say little.
func text(e Event) string {
	switch e.Type {
	case EventStart:
		return fmt.Sprintf("%d of %d runs to do, into %s", e.Total-e.Done, e.Total, e.Text)
	case EventNote:
		return fmt.Sprintf("%s: %s", e.RunID, e.Text)
	case EventDone:
		s := fmt.Sprintf("[%d/%d] %s %s %s", e.Done, e.Total, e.RunID, e.Outcome, seconds(e.WallNS))
		if e.Reason != "" {
			s += ": " + e.Reason
		}
		if e.ETANS > 0 {
			s += fmt.Sprintf(" (about %s left)", time.Duration(e.ETANS).Round(time.Second))
		}
		return s
	case EventEnd:
		t := e.Totals
		s := fmt.Sprintf("%d planned: %d ok, %d failed, %d unsupported, %d not run; %s", t.Planned, t.OK, t.Failed, t.Unsupported, t.NotRun, t.Dir)
		if t.Interrupted {
			s += "; interrupted"
		}
		return s
	}
	return ""
}

func seconds(ns int64) string { return fmt.Sprintf("%.2f s", float64(ns)/1e9) }

// NewBar shows a session as a progress bar with the time left; failures stay above it.
func NewBar(w io.Writer) Progress { return &bar{w: w} }

type bar struct {
	w   io.Writer
	bar *progressbar.ProgressBar
}

func (b *bar) Event(e Event) {
	switch e.Type {
	case EventStart:
		b.bar = progressbar.NewOptions(e.Total,
			progressbar.OptionSetWriter(b.w), progressbar.OptionSetWidth(20), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), progressbar.OptionSetElapsedTime(false), progressbar.OptionThrottle(0))
		_ = b.bar.Set(e.Done) // what a terminal cannot show must not stop a measurement
	case EventRun:
		b.describe(e)
	case EventDone:
		if e.Outcome == artifacts.OutcomeFailed {
			b.line(e)
		}
		_ = b.bar.Set(e.Done)
	case EventNote:
		b.line(e)
	case EventEnd:
		if b.bar != nil {
			_ = b.bar.Clear()
		}
		_, _ = fmt.Fprintln(b.w, text(e))
	}
}

func (b *bar) describe(e Event) {
	s := e.RunID
	if e.ETANS > 0 {
		s += fmt.Sprintf(", about %s left", time.Duration(e.ETANS).Round(time.Second))
	}
	b.bar.Describe(s)
}

func (b *bar) line(e Event) {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
	e.ETANS = 0
	_, _ = fmt.Fprintln(b.w, text(e))
}

func (b *bar) Close() error { return nil }
