package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// session is one call of Run on one artifact.
type session struct {
	opt  Options
	w    *artifacts.Writer
	last map[string]lastAttempt // by run id
	eta  estimator

	suite       string
	block       int
	journalNS   int64 // cost of the previous line
	interrupted bool
	network     networkGuard
}

type lastAttempt struct {
	n       int
	outcome artifacts.Outcome
}

// open creates the artifact or reopens it.
func open(opt Options) (*session, error) {
	s := &session{opt: opt, last: map[string]lastAttempt{}, block: -1, eta: newEstimator()}
	if err := s.network.before(opt.Network); err != nil {
		return nil, err
	}
	var err error
	if opt.Resume {
		err = s.reopen()
	} else {
		err = s.create()
	}
	return s, err
}

func (s *session) create() error {
	var plan bytes.Buffer
	if err := s.opt.Plan.WriteTSV(&plan); err != nil {
		return fmt.Errorf("plan: %w", err)
	}
	var err error
	if s.w, err = artifacts.Create(s.opt.Dir, s.manifest(), plan.Bytes()); err != nil {
		return err
	}
	if err := s.foreword(); err != nil {
		return errors.Join(fmt.Errorf("results folder: %w", err), s.w.Close())
	}
	return nil
}

// foreword writes what must stand before the first run.
func (s *session) foreword() error {
	if s.opt.Stamp != nil {
		if err := s.w.AppendAnchor(*s.opt.Stamp); err != nil {
			return err
		}
	}
	if s.opt.Ladder != nil {
		return s.w.AppendReplication(s.opt.Ladder)
	}
	return nil
}

// manifest is what is known before the first run.
func (s *session) manifest() artifacts.Manifest {
	m, p := s.opt.Manifest, s.opt.Plan
	m.Kind, m.PlanHash, m.Planned, m.NotRun = p.Kind, p.Hash, len(p.Runs), len(p.Runs)
	m.Matrix.Name, m.Matrix.Hash, m.Matrix.Seed = p.Matrix, p.FileHash, p.Seed
	m.Runtime, m.Shared, m.Started = s.opt.Runtime.Name(), s.opt.Shared, time.Now().UTC()
	m.Drivers = map[string]artifacts.DriverRef{}
	m.LinkBackends = map[string]string{}
	for _, d := range s.opt.Drivers {
		m.Drivers[d.Name] = artifacts.DriverRef{SHA256: d.SHA256, Missing: d.Missing, Describe: d.Describe, Bound: d.Bound}
		if d.Drift != "" {
			m.Pins.Drift = append(m.Pins.Drift, d.Drift)
		}
	}
	for _, r := range p.Runs {
		m.LinkBackends[r.Profile.ID] = r.Profile.Link.Backend
	}
	server, client, label := s.place(matrix.PlacementSplit)
	m.Placement = artifacts.Placement{Label: label, Server: server, Client: client}
	return m
}

// todo lists the attempts to make, in plan order.
func (s *session) todo() []task {
	var todo []task
	for _, r := range s.opt.Plan.Runs {
		l, done := s.last[r.ID]
		if !done || s.opt.RetryFailed && l.outcome == artifacts.OutcomeFailed {
			todo = append(todo, task{r, l.n + 1})
		}
	}
	return todo
}

// enter writes the lines that open a suite and a block.
func (s *session) enter(ctx context.Context, r matrix.Run) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.Profile.Suite != s.suite {
		s.suite = r.Profile.Suite
		if err := s.openSuite(ctx); err != nil {
			return err
		}
	}
	if r.Block != s.block && s.unsupported(r) == "" {
		s.block = r.Block
		return s.probe(ctx, r)
	}
	return nil
}

// finish closes the artifact: sealed when every planned run has a line.
func (s *session) finish(runErr error) (Totals, error) {
	t := s.totals()
	if s.w == nil { // complete before this session began
		t.Sealed = true
		s.emit(Event{Type: EventNote, RunID: s.opt.Dir, Text: "complete, nothing is left to do"})
		s.emit(Event{Type: EventEnd, Done: t.Planned, Totals: &t})
		return t, s.opt.Progress.Close()
	}
	m := s.w.Manifest()
	m.OK, m.Failed, m.Unsupported, m.NotRun = t.OK, t.Failed, t.Unsupported, t.NotRun
	err := s.network.after(s.opt.Network, &m.Network)
	if runErr == nil && err == nil {
		if t.NotRun == 0 && !t.Interrupted {
			now := time.Now().UTC()
			m.Finished = &now
			if err = s.keepConsole(); err == nil {
				err = s.w.Seal(m)
			}
			t.Sealed = err == nil
		} else {
			err = s.w.SetManifest(m)
		}
	}
	err = errors.Join(runErr, err, s.w.Close())
	s.emit(Event{Type: EventEnd, Done: t.Planned - t.NotRun, Totals: &t})
	return t, errors.Join(err, s.opt.Progress.Close())
}

// keepConsole stores the console before the seal.
func (s *session) keepConsole() error {
	if s.opt.Console == nil {
		return nil
	}
	text, err := s.opt.Console()
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	if _, err := s.w.Log(artifacts.ConsoleLog, text); err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	return nil
}

func (s *session) totals() Totals {
	t := Totals{Dir: s.opt.Dir, Planned: len(s.opt.Plan.Runs), NotRun: len(s.opt.Plan.Runs) - len(s.last), Interrupted: s.interrupted}
	for _, l := range s.last {
		switch l.outcome {
		case artifacts.OutcomeOK:
			t.OK++
		case artifacts.OutcomeFailed:
			t.Failed++
		case artifacts.OutcomeUnsupported:
			t.Unsupported++
		}
	}
	return t
}
