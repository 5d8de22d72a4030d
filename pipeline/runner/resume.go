package runner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"transportbench/artifacts"
)

// ErrDiffers is wrapped by the refusal to resume an artifact that was made by something else.
var ErrDiffers = errors.New("cannot be resumed: start a new artifact with --out, or restore what differs")

// reopen compares before it repairs, so that a refused resume changes nothing.
func (s *session) reopen() error {
	was, err := artifacts.ReadManifest(s.opt.Dir)
	if err != nil {
		return err
	}
	if err := s.differences(was); err != nil {
		return err
	}
	if s.complete() {
		return nil
	}
	r, err := artifacts.OpenResume(s.opt.Dir)
	if err != nil {
		return err
	}
	s.w = r.Writer
	if err := s.adopt(r); err != nil {
		return errors.Join(err, r.Close())
	}
	return nil
}

// complete reports whether a sealed artifact has nothing left to do; then it is not touched.
func (s *session) complete() bool {
	a, err := artifacts.Load(s.opt.Dir)
	if err != nil || !a.Sealed {
		return false
	}
	for i := range a.Records {
		s.note(&a.Records[i])
	}
	if len(s.todo()) == 0 {
		return true
	}
	clear(s.last)
	return false
}

func (s *session) adopt(r *artifacts.Reopened) error {
	for i := range r.Found.Records {
		s.note(&r.Found.Records[i])
	}
	r.Resume.Started, r.Resume.RetryFailed = time.Now().UTC(), s.opt.RetryFailed
	r.Resume.Remaining = len(s.todo())
	if err := r.AppendResume(&r.Resume); err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	if r.Resume.Interrupted != "" {
		s.emit(Event{Type: EventNote, RunID: r.Resume.Interrupted, Text: "interrupted before it had an outcome, runs again"})
	}
	return nil
}

// differences names what is not as it was when the artifact was begun. Resuming over any of them would mix two experiments.
func (s *session) differences(was artifacts.Manifest) error {
	var diffs []string
	now := s.manifest()
	for _, f := range []struct{ what, was, now string }{
		{"plan hash", was.PlanHash, now.PlanHash},
		{"host fingerprint", was.HostFingerprint, now.HostFingerprint},
		{"runtime", was.Runtime, now.Runtime},
		{"launch digest", was.Launch, now.Launch},
	} {
		if f.was != f.now {
			diffs = append(diffs, fmt.Sprintf("%s was %s, is %s", f.what, orNone(f.was), orNone(f.now)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Images)) {
		// The holder's image changes with bench itself, which is not compared either.
		if a, b := was.Images[name], now.Images[name]; a != b && now.Drivers[name].SHA256 != "" {
			diffs = append(diffs, fmt.Sprintf("image %s was %s, is %s", name, orNone(a), orNone(b)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Drivers)) {
		if a, b := was.Drivers[name].SHA256, now.Drivers[name].SHA256; a != b {
			diffs = append(diffs, fmt.Sprintf("driver %s was %s, is %s", name, orNone(a), orNone(b)))
		}
	}
	if len(diffs) == 0 {
		return nil
	}
	var all []error
	for _, d := range diffs {
		all = append(all, errors.New(d))
	}
	return fmt.Errorf("%s: %w: %s", s.opt.Dir, ErrDiffers, joined(all))
}

func joined(errs []error) string {
	var out string
	for i, e := range errs {
		if i > 0 {
			out += "; "
		}
		out += e.Error()
	}
	return out
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
