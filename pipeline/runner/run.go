package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// Run executes what the artifact at opt.Dir still lacks. A run that fails is recorded and the rest goes on; an error means that
// the session could not go on (nothing recorded is lost, --resume continues). After an interrupt of ctx it returns within 2 s
// with Totals.Interrupted and no error; the run in progress has no line and the next resume names it.
func Run(ctx context.Context, opt Options) (Totals, error) {
	if err := opt.check(); err != nil {
		return Totals{}, err
	}
	if opt.Progress == nil {
		opt.Progress = silent{}
	}
	s, err := open(opt)
	if err != nil {
		return Totals{}, err
	}
	runErr := s.execute(ctx)
	if errors.Is(runErr, context.Canceled) && ctx.Err() != nil {
		s.interrupted, runErr = true, nil
	}
	return s.finish(runErr)
}

// execute does every remaining run in plan order.
func (s *session) execute(ctx context.Context) error {
	todo := s.todo()
	s.eta.left = todo
	s.emit(Event{Type: EventStart, Done: len(s.opt.Plan.Runs) - len(todo), Text: s.opt.Dir})
	for i, t := range todo {
		s.eta.left = todo[i:]
		if err := s.enter(ctx, t.run); err != nil {
			return err
		}
		if err := s.one(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// task is one attempt that has to be made.
type task struct {
	run     matrix.Run
	attempt int // from 1
}

// one makes an attempt and writes its line. A line that cannot be written ends the session: the machine cannot keep its evidence.
func (s *session) one(ctx context.Context, t task) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.w.Begin(t.run.ID, t.attempt); err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	s.emit(Event{Type: EventRun, RunID: t.run.ID, Attempt: t.attempt})
	rec, err := s.attempt(ctx, t)
	if ctx.Err() != nil {
		return ctx.Err() // the attempt was cut short: it is no outcome
	}
	if err != nil {
		return err
	}
	start := time.Now()
	if err := s.w.Append(rec); err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	s.journalNS = time.Since(start).Nanoseconds()
	s.note(rec)
	s.eta.left = s.eta.left[1:]
	s.emit(Event{
		Type: EventDone, RunID: rec.RunID, Attempt: rec.Attempt, Outcome: rec.Outcome, Reason: rec.Reason, WallNS: rec.WallNS, Record: rec,
	})
	return nil
}

// note keeps the last outcome of a run and learns from its duration.
func (s *session) note(rec *artifacts.Record) {
	s.last[rec.RunID] = lastAttempt{rec.Attempt, rec.Outcome}
	s.eta.learn(rec)
}
