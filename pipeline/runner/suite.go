package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

// How often each program is started to learn floor and step of peak RSS.
const (
	floorReadings = 4
	stepReadings  = 8
)

// openSuite journals what qualifies the suite's numbers: floor and step of peak RSS and a capture of the host from inside.
func (s *session) openSuite(ctx context.Context) error {
	line := &artifacts.Suite{Suite: s.suite, Started: time.Now().UTC()}
	err := s.qualify(ctx, line)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		line.Reason = oneLine(err.Error())
	}
	if err := s.w.AppendSuite(line); err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	m := s.w.Manifest()
	if m.RSS = withRSS(m.RSS, s.suite, line.RSS); len(m.MeasuredOn) == 0 {
		m.MeasuredOn = line.Host
	}
	if err := s.w.SetManifest(m); err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	return nil
}

func withRSS(all map[string]artifacts.RSS, suite string, one *artifacts.RSS) map[string]artifacts.RSS {
	if one == nil {
		return all
	}
	out := map[string]artifacts.RSS{suite: *one}
	for k, v := range all {
		if k != suite {
			out[k] = v
		}
	}
	return out
}

func (s *session) qualify(ctx context.Context, line *artifacts.Suite) (err error) {
	clean := matrix.LinkSpec{Topology: "lo", Backend: s.opt.Plan.Runs[0].Profile.Link.Backend}
	for _, r := range s.opt.Plan.Runs {
		if l := r.Profile.Link; l.Clean() {
			clean = l
		}
	}
	env, err := s.opt.Runtime.Open(ctx, sandbox.EnvSpec{RunID: "suite/" + s.suite, Link: clean, Seed: s.opt.Plan.Runs[0].Seed, Port: port})
	if err != nil {
		return fmt.Errorf("private network: %w", err)
	}
	defer func() { err = errors.Join(err, env.Close()) }()
	if line.Host, err = env.Host(ctx); err != nil {
		return fmt.Errorf("host capture: %w", err)
	}
	if s.opt.Floor == "" {
		return errors.New("floor of peak RSS: no trivial program was given")
	}
	line.RSS, err = s.rss(ctx, env)
	return err
}

// rss starts launch under launch for the floor, and a driver's describe for peaks that differ a little: the smallest difference
// between two peaks of the same program is the counter's step. Source of the formula, used when no two differ: the kernel keeps
// RSS in per-CPU batches of max(32, 2 x CPUs) pages.
func (s *session) rss(ctx context.Context, env sandbox.Env) (*artifacts.RSS, error) {
	floor, err := s.peaks(ctx, env, sandbox.ProcSpec{Name: "floor", Path: s.opt.Floor, Args: []string{"-h"}}, floorReadings)
	if err != nil {
		return nil, err
	}
	out := &artifacts.RSS{FloorKiB: slices.Min(floor), FormulaKiB: 4 * int64(max(32, 2*len(s.opt.Topology)))}
	out.StepKiB, out.Measured = smallestStep(floor)
	i := slices.IndexFunc(s.opt.Drivers, func(d drivers.Driver) bool { return d.Missing == "" })
	if i >= 0 {
		peaks, err := s.peaks(ctx, env, sandbox.ProcSpec{Name: "describe", Path: s.opt.Drivers[i].Path, Args: []string{"describe"}}, stepReadings)
		if err != nil {
			return nil, err
		}
		if step, found := smallestStep(peaks); found && (!out.Measured || step < out.StepKiB) {
			out.StepKiB, out.Measured = step, true
		}
	}
	if !out.Measured {
		out.StepKiB = out.FormulaKiB
	}
	return out, nil
}

func (s *session) peaks(ctx context.Context, env sandbox.Env, spec sandbox.ProcSpec, n int) ([]int64, error) {
	var all []int64
	for range n {
		kib, err := s.peak(ctx, env, spec)
		if err != nil {
			return nil, err
		}
		all = append(all, kib)
	}
	return all, nil
}

// smallestStep is the smallest difference other than zero between any two readings.
func smallestStep(kib []int64) (step int64, found bool) {
	slices.Sort(kib)
	for i := 1; i < len(kib); i++ {
		if d := kib[i] - kib[i-1]; d > 0 && (!found || d < step) {
			step, found = d, true
		}
	}
	return step, found
}

// peak runs a program that ends by itself and returns its peak RSS in KiB as launch reports it.
func (s *session) peak(ctx context.Context, env sandbox.Env, spec sandbox.ProcSpec) (int64, error) {
	spec.StopTERM = s.opt.Plan.Deadlines.Stop
	d, err := start(ctx, env, spec, wire.RoleDescribe)
	if err != nil {
		return 0, err
	}
	t := time.NewTimer(s.opt.Plan.Deadlines.Ready)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-t.C:
		return 0, fmt.Errorf("%s: did not end within %s", spec.Name, s.opt.Plan.Deadlines.Ready)
	case <-d.done:
	}
	if d.side.Exit == nil || d.side.Exit.MaxRSSKiB <= 0 {
		return 0, fmt.Errorf("%s: launch reported no peak RSS: %w", spec.Name, errors.Join(d.broken, d.waitErr, io.ErrUnexpectedEOF))
	}
	return d.side.Exit.MaxRSSKiB, nil
}
