package runner

import (
	"context"
	"fmt"
	"os"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// probe measures the machine itself at the start of a block and journals it. A probe that fails is recorded and fails nothing else.
func (s *session) probe(ctx context.Context, first matrix.Run) error {
	if len(s.opt.Plan.Probe) == 0 {
		return nil
	}
	s.emit(Event{Type: EventProbe, Text: fmt.Sprintf("block %d", first.Block)})
	p := &artifacts.Probe{Block: first.Block, Profile: first.Profile.ID, Started: time.Now().UTC()}
	for i, r := range s.opt.Plan.Probe {
		one, err := s.probeOne(ctx, r, i)
		if err != nil {
			return err
		}
		p.Results = append(p.Results, one)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.w.AppendProbe(p); err != nil {
		return fmt.Errorf("results folder: %w", err)
	}
	return nil
}

func (s *session) probeOne(ctx context.Context, r matrix.Run, i int) (artifacts.ProbeResult, error) {
	out := artifacts.ProbeResult{Variant: r.Variant.Name}
	if out.Reason = s.unsupported(r); out.Reason != "" {
		return out, nil
	}
	raw, err := s.w.Scratch(fmt.Sprintf("probe-%d.rtt", i))
	if err != nil {
		return out, fmt.Errorf("results folder: %w", err)
	}
	m := &measurement{s: s, run: r, rec: s.record(task{r, 1}), samples: raw}
	failure := m.measure(ctx)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	b, samplesErr := readSamples(raw)
	if b != nil {
		var one artifacts.Series
		one, samplesErr = summarise(b)
		m.rec.Series = []artifacts.Series{one}
		if err := os.Remove(raw); err != nil {
			return out, fmt.Errorf("results folder: %w", err)
		}
	}
	m.judge(failure, samplesErr)
	if out.Reason = m.rec.Reason; m.rec.Outcome == artifacts.OutcomeOK {
		res := m.rec.Client.Result
		out.ElapsedNS, out.Bytes, out.Messages, out.Lost = res.ElapsedNS, res.Bytes, res.Messages, res.Lost
	}
	return out, nil
}
