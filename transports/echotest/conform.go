// Package echotest is the conformance suite that every driver must pass, whatever language it is written in.
package echotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"transportbench/transports/wire"
)

// Outcome of one check.
type Outcome string

// Outcomes.
const (
	Pass        Outcome = "pass"
	Fail        Outcome = "fail"
	Unsupported Outcome = "unsupported" // the driver says that it does not offer this, or this machine cannot try it
)

// Options say what is tested and how.
type Options struct {
	Driver   string      // path of the driver
	Launch   string      // path of launch; empty: the driver is started directly
	Suites   []string    // default: all four
	Dir      string      // where samples files go; default: a temporary folder that is removed
	Only     []string    // prefixes of check names; empty: every check. describe always runs
	Seed     uint64      // of the bad path; 0 is a seed too
	Progress func(Check) // called after each check, if not nil
}

// Check is the result of one named check. Expected and Found are filled in when it did not pass.
type Check struct {
	Name     string  `json:"name"`
	Outcome  Outcome `json:"outcome"`
	Reason   string  `json:"reason,omitempty"`
	Expected string  `json:"expected,omitempty"`
	Found    string  `json:"found,omitempty"`
	WallNS   int64   `json:"wall_ns"`
}

// Report is what Conform found, in the order of the checks.
type Report struct {
	Driver      string         `json:"driver"` // base name
	Contract    int            `json:"contract"`
	Describe    *wire.Describe `json:"describe,omitempty"` // nil: the driver cannot describe itself
	Passed      int            `json:"passed"`
	Failed      int            `json:"failed"`
	Unsupported int            `json:"unsupported"`
	Checks      []Check        `json:"checks"`
}

// OK says whether no check failed.
func (r Report) OK() bool { return r.Failed == 0 && r.Passed > 0 }

// Err returns nil, or one line that names the failed checks.
func (r Report) Err() error {
	if r.OK() {
		return nil
	}
	var names []string
	for _, c := range r.Checks {
		if c.Outcome == Fail {
			names = append(names, c.Name)
		}
	}
	return fmt.Errorf("%s: %d of %d checks failed: %v", r.Driver, r.Failed, len(r.Checks), names)
}

// session is one run of the suite.
type session struct {
	opt      Options
	describe wire.Describe
	report   Report
	files    int // samples files so far
}

// Conform runs every check against a driver, one process pair at a time, on 127.0.0.1. It returns early only when ctx ends or when the
// driver cannot describe itself; what is left then is reported as failed.
func Conform(ctx context.Context, opt Options) Report {
	s := &session{opt: opt, report: Report{Driver: filepath.Base(opt.Driver), Contract: wire.ContractVersion}}
	if len(s.opt.Suites) == 0 {
		s.opt.Suites = []string{wire.SuiteSingle, wire.SuiteSparse, wire.SuiteConcurrent, wire.SuiteLoaded}
	}
	if s.opt.Dir == "" {
		dir, err := os.MkdirTemp("", "conform-")
		if err != nil {
			s.add(Check{Name: "temporary-folder", Outcome: Fail, Reason: err.Error()})
			return s.report
		}
		defer os.RemoveAll(dir)
		s.opt.Dir = dir
	}
	if !s.checkDescribe(ctx) {
		return s.report
	}
	for _, part := range []func(context.Context){
		s.checkUsage, s.checkRuns, s.checkPayloads, s.checkSettings, s.checkLifecycle, s.checkDeadlines, s.checkSamplesKept, s.checkFaults, s.checkRelays, s.checkJunk,
	} {
		if ctx.Err() != nil {
			s.add(Check{Name: "interrupted", Outcome: Fail, Reason: ctx.Err().Error()})
			break
		}
		part(ctx)
	}
	return s.report
}

func (s *session) add(c Check) {
	switch c.Outcome {
	case Pass:
		s.report.Passed++
	case Unsupported:
		s.report.Unsupported++
	default:
		s.report.Failed++
	}
	s.report.Checks = append(s.report.Checks, c)
	if s.opt.Progress != nil {
		s.opt.Progress(c)
	}
}

// nameDescribe is the one check that all others build on.
const nameDescribe = "describe"

// mismatch is a check's error: what was expected and what was found.
type mismatch struct{ expected, found string }

func (m *mismatch) Error() string { return "expected " + m.expected + ", found " + m.found }

func want(expected, format string, args ...any) error {
	return &mismatch{expected: expected, found: fmt.Sprintf(format, args...)}
}

// unsupportedError ends a check that cannot be tried.
type unsupportedError struct{ reason string }

func (e *unsupportedError) Error() string { return e.reason }

// check runs one named check and records what it returned; a check that was not asked for is not run.
func (s *session) check(name string, f func() error) {
	if name != nameDescribe && len(s.opt.Only) > 0 && !slices.ContainsFunc(s.opt.Only, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return
	}
	began := time.Now()
	err := f()
	c := Check{Name: name, Outcome: Pass, WallNS: time.Since(began).Nanoseconds()}
	var m *mismatch
	var u *unsupportedError
	switch {
	case errors.As(err, &u):
		c.Outcome, c.Reason = Unsupported, u.reason
	case errors.As(err, &m):
		c.Outcome, c.Expected, c.Found = Fail, m.expected, m.found
	case err != nil:
		c.Outcome, c.Reason = Fail, err.Error()
	}
	s.add(c)
}

func (s *session) hasAPI(api string) bool { return slices.Contains(s.describe.APIs, api) }

func (s *session) hasSuite(suite string) bool { return slices.Contains(s.opt.Suites, suite) }
