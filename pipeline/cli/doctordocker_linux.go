package cli

import (
	"context"
	"fmt"
	"io"

	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
)

// dockerState says what containers can do here, found by starting one.
type dockerState struct {
	Engine  *sandbox.Engine `json:"engine,omitempty"`
	Missing string          `json:"missing,omitempty"` // why there is no engine, or no image
	Probe   *sandbox.Probe  `json:"probe,omitempty"`
}

func dockerAbility(ctx context.Context, driversDir string) dockerState {
	engine, err := sandbox.FindEngine(ctx)
	if err != nil {
		return dockerState{Missing: oneLine(err.Error())}
	}
	s := dockerState{Engine: &engine}
	probe, err := probeDocker(ctx, driversDir)
	if err != nil {
		s.Missing = oneLine(err.Error())
		return s
	}
	s.Probe = &probe
	return s
}

// probeDocker needs the holder's image alone.
func probeDocker(ctx context.Context, driversDir string) (probe sandbox.Probe, err error) {
	dir, err := driversFolder(driversDir)
	if err != nil {
		return probe, err
	}
	m, err := matrix.Builtin("published")
	if err != nil {
		return probe, err
	}
	plan, err := matrix.NewPlan(m, matrix.Selection{})
	if err != nil {
		return probe, err
	}
	f := runFlags{driversDir: dir}
	b, err := f.boxes(ctx, plan, dir)
	if err != nil {
		return probe, err
	}
	if err := b.incomplete(); err != nil {
		return probe, err
	}
	rt, err := sandbox.NewDocker(ctx, b.options)
	if err != nil {
		return probe, err
	}
	defer func() { _ = rt.Close() }() // what it leaves is removed by the next start
	return rt.Probe(ctx)
}

func (s dockerState) print(w io.Writer) {
	if s.Engine == nil {
		fmt.Fprintf(w, "docker\tno: %s\n", s.Missing)
		return
	}
	e := s.Engine
	fmt.Fprintf(w, "docker\t%s %s, API %s, %s, cgroup v%s by %s, %s\n", e.Name, e.Version, e.API, e.StorageDriver, e.CgroupVersion, e.CgroupDriver, e.Runtime)
	if s.Probe == nil {
		fmt.Fprintf(w, "docker images\tno: %s\n", s.Missing)
		return
	}
	fmt.Fprintf(w, "docker CPUs\t%s; open files: hard limit %d\n", sandbox.FormatCPUList(s.Probe.CPUs), s.Probe.NoFileHard)
	for _, c := range s.Probe.Links {
		fmt.Fprintf(w, "docker link %s\t%s\n", c.Backend, capabilityText(c))
	}
}
