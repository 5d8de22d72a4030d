// Package runner executes a plan run by run: each run in a private network, each outcome in the journal, whatever happens.
package runner

import (
	"errors"
	"fmt"
	"slices"

	"transportbench/artifacts"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
)

// Options are what Run needs. Plan must have its backends resolved, Drivers must answer for every driver the plan names.
type Options struct {
	Plan     *matrix.Plan
	Runtime  sandbox.Runtime
	Drivers  []drivers.Driver
	Topology []sandbox.CPU // CPUs that the drivers may use
	NoFile   uint64        // hard limit of open files where the drivers run

	Dir         string // folder of the artifact: new, or with Resume an existing one
	Resume      bool
	RetryFailed bool               // with Resume: failed runs get another attempt
	Manifest    artifacts.Manifest // what the caller knows of code, pins, host; Run fills the rest

	Floor    string // path of a trivial static program (launch itself), to learn the floor of peak RSS; empty: not measured
	Shared   bool   // another bench may run at the same time: every run is flagged
	Progress Progress

	// Stamp is an authority's time-stamp of the plan hash, put before the first run of a new artifact. Nil: nobody was asked.
	Stamp *artifacts.Stamp

	// Ladder is what a replication must show, stored and chained before the first run of a new artifact. Nil: nothing is replicated.
	Ladder []byte

	// Console returns what the kernel of a virtual machine said so far, kept as a log of the artifact. Nil: there is none.
	Console func() ([]byte, error)

	// Network reads the host's own network, which must be the same afterwards. Nil: not compared.
	Network func() (sandbox.NetState, error)
}

// Totals is how a session ended, over the whole plan.
type Totals struct {
	Dir         string `json:"dir"`
	Planned     int    `json:"planned"`
	OK          int    `json:"ok"`
	Failed      int    `json:"failed"`
	Unsupported int    `json:"unsupported"`
	NotRun      int    `json:"not_run"`
	Interrupted bool   `json:"interrupted"`
	Sealed      bool   `json:"sealed"`
}

// Exit codes of `bench run`, as far as a session decides them.
const (
	ExitDone        = 0
	ExitPartial     = 4
	ExitInterrupted = 130
)

// ExitCode is 0 when every run has an outcome and none failed (unsupported is allowed), 130 after an interrupt, else 4.
func (t Totals) ExitCode() int {
	switch {
	case t.Interrupted:
		return ExitInterrupted
	case t.Failed > 0 || t.NotRun > 0:
		return ExitPartial
	}
	return ExitDone
}

func (o *Options) check() error {
	switch {
	case o.Plan == nil || len(o.Plan.Runs) == 0:
		return errors.New("plan: no run is planned")
	case o.Runtime == nil:
		return errors.New("runtime: none given")
	case o.Dir == "":
		return errors.New("results folder: none given, use --out DIR")
	case o.RetryFailed && !o.Resume:
		return errors.New("--retry-failed: needs --resume DIR")
	}
	for _, r := range o.Plan.Runs {
		if err := artifacts.ValidRunID(r.ID); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		if o.driver(r.Variant.Driver) == nil {
			return fmt.Errorf("plan: driver %s of column %s was not looked up", r.Variant.Driver, r.Variant.Name)
		}
	}
	return nil
}

// driver returns what was found under a name, nil if it was never looked up.
func (o *Options) driver(name string) *drivers.Driver {
	i := slices.IndexFunc(o.Drivers, func(d drivers.Driver) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Drivers[i]
}
