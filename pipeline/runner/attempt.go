package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
	"transportbench/transports/wire"
)

// attempt makes one attempt and returns its line. An error means that the artifact could not take a file.
func (s *session) attempt(ctx context.Context, t task) (*artifacts.Record, error) {
	begun := time.Now()
	rec := s.record(t)
	if reason := s.unsupported(t.run); reason != "" {
		rec.Outcome, rec.Reason = artifacts.OutcomeUnsupported, reason
		return rec, nil
	}
	raw, err := s.w.Scratch(artifacts.FileBase(t.run.ID, t.attempt) + ".rtt")
	if err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	m := &measurement{s: s, run: t.run, rec: rec, samples: raw}
	failure := m.measure(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := m.diskFull(); err != nil {
		return nil, err
	}
	if err := m.keepLogs(t); err != nil {
		return nil, err
	}
	series, samplesErr, err := m.keepSamples(t)
	if err != nil {
		return nil, err
	}
	rec.Series = series
	m.judge(failure, samplesErr)
	m.phase("store")
	rec.OverheadNS["journal"] = s.journalNS
	rec.WallNS = time.Since(begun).Nanoseconds()
	return rec, nil
}

// diskFull tells a results folder without room from a run that failed: the first ends the session, since every run after it would
// fail the same way.
func (m *measurement) diskFull() error {
	if m.client == nil {
		return nil
	}
	if err := m.client.waitErr; errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("results folder: %w", err)
	}
	return nil
}

// record is what is known of an attempt before it starts.
func (s *session) record(t task) *artifacts.Record {
	r := t.run
	rec := &artifacts.Record{
		RunID: r.ID, Index: r.Index, Attempt: t.attempt, Profile: r.Profile, Variant: r.Variant, Repetition: r.Repetition, Block: r.Block,
		Started: time.Now().UTC(), OverheadNS: map[string]int64{},
	}
	server, client, label := s.place(r.Profile.Placement)
	rec.Placement = artifacts.Placement{Label: label, Server: server, Client: client}
	if d := s.opt.driver(r.Variant.Driver); d != nil {
		rec.Server.Digest, rec.Client.Digest = d.SHA256, d.SHA256
	}
	if s.opt.Shared {
		rec.Flags = append(rec.Flags, FlagShared)
	}
	return rec
}

func (s *session) place(p matrix.Placement) (server, client []int, label string) {
	return sandbox.Place(s.opt.Topology, p)
}

// cpus is how many CPUs a side may use; an unpinned one has all that are allowed.
func (s *session) cpus(pinned []int) int {
	if pinned == nil {
		return len(s.opt.Topology)
	}
	return len(pinned)
}

// judge turns what happened into the outcome.
func (m *measurement) judge(failure, samplesErr error) {
	rec := m.rec
	if reason := m.notOffered(failure); reason != "" {
		rec.Outcome, rec.Reason = artifacts.OutcomeUnsupported, m.portable(reason)
		return
	}
	rec.Outcome = artifacts.OutcomeOK
	if reason := m.failure(failure, samplesErr); reason != "" {
		rec.Outcome, rec.Reason = artifacts.OutcomeFailed, m.portable(oneLine(reason))
	}
}

// portable takes the folders of this machine out of a reason: an artifact names programs and files, not where they lie.
func (m *measurement) portable(reason string) string {
	files := []string{m.s.opt.Floor, m.samples}
	if d := m.s.opt.driver(m.run.Variant.Driver); d != nil {
		files = append(files, d.Path)
	}
	for _, f := range files {
		if dir := filepath.Dir(f); filepath.IsAbs(dir) && dir != "/" {
			reason = strings.ReplaceAll(reason, dir+"/", "")
		}
	}
	return reason
}

// notOffered tells what this machine or this driver cannot do from what went wrong.
func (m *measurement) notOffered(failure error) string {
	var noLink *link.UnsupportedError
	var noSandbox *sandbox.UnsupportedError
	if errors.As(failure, &noLink) || errors.As(failure, &noSandbox) {
		return oneLine(failure.Error())
	}
	for _, p := range []*process{m.server, m.client} {
		if p != nil && p.side.Exit != nil && p.side.Exit.Status == wire.ExitUnsupported {
			return "driver " + m.run.Variant.Driver + ": " + p.name + " exited 127" + p.said()
		}
	}
	return ""
}

// failure is the first thing that keeps the attempt from being a measurement: the driver's own word first, then ours.
func (m *measurement) failure(failure, samplesErr error) string {
	var early errEarly
	if failure != nil && (m.client == nil || errors.As(failure, &early)) {
		return failure.Error()
	}
	var late errDeadline
	if errors.As(failure, &late) {
		return failure.Error()
	}
	for _, p := range []*process{m.client, m.server} {
		if p == nil {
			continue
		}
		if r := p.exitReason(); r != "" {
			return p.name + ": " + r
		}
	}
	if failure != nil {
		return failure.Error()
	}
	if samplesErr != nil {
		return "samples: " + samplesErr.Error()
	}
	return m.inspect()
}

// keepLogs stores the standard error of both processes.
func (m *measurement) keepLogs(t task) error {
	for _, d := range []struct {
		p    *process
		side *artifacts.Side
	}{{m.server, &m.rec.Server}, {m.client, &m.rec.Client}} {
		if d.p == nil {
			continue
		}
		name, err := m.s.w.Log(artifacts.LogName(t.run.ID, t.attempt, d.p.name), d.p.log.bytes())
		if err != nil {
			return fmt.Errorf("results folder: %w", err)
		}
		d.side.Log = name
	}
	return nil
}

// keepSamples stores the raw RTTs and summarises them. samplesErr is a defect of the driver's file, err one of our own folder.
func (m *measurement) keepSamples(t task) (series []artifacts.Series, samplesErr, err error) {
	raw, readErr := readSamples(m.samples)
	if readErr != nil || raw == nil {
		return nil, readErr, nil
	}
	name := artifacts.SamplesName(t.run.ID, t.attempt)
	hash, err := m.s.w.Samples(name, raw)
	if err != nil {
		return nil, nil, fmt.Errorf("results folder: %w", err)
	}
	if err := os.Remove(m.samples); err != nil {
		return nil, nil, fmt.Errorf("results folder: %s: %w", path.Base(m.samples), err)
	}
	one, samplesErr := summarise(raw)
	one.File, one.SHA256 = name, hash
	return []artifacts.Series{one}, samplesErr, nil
}
