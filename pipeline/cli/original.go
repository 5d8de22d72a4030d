package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"transportbench/analysis/replication"
	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/artifacts/oci"
	"transportbench/artifacts/reference"
	"transportbench/pipeline/matrix"
)

// publishedWord asks for the tables of 12 October 2026, which bench carries.
const publishedWord = "reference"

// original is what a replication repeats: a measured artifact or printed tables.
type original struct {
	a    *artifacts.Artifact // nil: printed tables
	s    *summary.Summary
	ref  *reference.Reference
	seal string // SHA-256 of SHA256SUMS
	from string // reference with digest, where it was pulled
}

// openOriginal reads and verifies what REF names. A pulled copy is gone when this returns: the ladder holds what is needed of it.
func openOriginal(cmd *cobra.Command, name string) (*original, error) {
	switch {
	case name == publishedWord:
		ref, err := reference.Published()
		return &original{ref: ref}, fail(ExitUsage, err)
	case oci.IsRef(name):
		return pullOriginal(cmd, name)
	case reference.IsReference(name):
		ref, err := reference.Load(name)
		return &original{ref: ref}, fail(ExitUsage, err)
	}
	if err := artifactFolder(name); err != nil {
		return nil, err
	}
	return readOriginal(name)
}

func pullOriginal(cmd *cobra.Command, name string) (*original, error) {
	ref, err := oci.ParseRef(name)
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	tmp, err := os.MkdirTemp("", "bench-original-")
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	defer os.RemoveAll(tmp)
	p, err := oci.New().Pull(cmd.Context(), ref, oci.PullOptions{Dir: filepath.Join(tmp, "original"), Into: tmp, Check: func(string) error { return nil }})
	if err != nil {
		return nil, fail(exitOfOCI(err), fmt.Errorf("replicate: %w", err))
	}
	o, err := readOriginal(p.Dir)
	if o != nil {
		o.from = p.Ref.String()
	}
	return o, err
}

func readOriginal(dir string) (*original, error) {
	v, err := verify(dir)
	if err != nil {
		return nil, err
	}
	if !v.Intact {
		return nil, fail(ExitNo, fmt.Errorf("%s: bench verify has %d findings: there is nothing to replicate", dir, v.Failures()))
	}
	a, s, err := loadSummary(dir)
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	if err := worthRepeating(a.Manifest); err != nil {
		return nil, fail(ExitUsage, fmt.Errorf("%s: %w", dir, err))
	}
	sums, err := os.ReadFile(filepath.Join(dir, artifacts.SumsFile))
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	return &original{a: a, s: s, seal: digest(sums)}, nil
}

// worthRepeating refuses what is no result.
func worthRepeating(m artifacts.Manifest) error {
	switch {
	case m.Kind == matrix.KindSmoke:
		return errors.New("is a smoke run, whose counts are scaled or capped: it claims nothing that could be replicated")
	case m.Kind == matrix.KindQuick:
		return errors.New("is a quick run, too small for conclusions: nothing could be replicated")
	case m.FunctionalOnly():
		return errors.New("was measured under software emulation: functional only, there is no number to replicate")
	}
	return nil
}

func (o *original) id() string {
	if o.ref != nil {
		return o.ref.Manifest.ID
	}
	return o.a.Manifest.ID
}

func (o *original) ladder(claims []string) (*replication.Ladder, error) {
	var l *replication.Ladder
	var err error
	if o.ref != nil {
		l, err = replication.FromReference(o.ref, claims)
	} else {
		l, err = replication.FromArtifact(o.a, o.s, o.seal, o.from, claims)
	}
	return l, fail(ExitUsage, err)
}

// selection is the plan of the original, or the part of it that the ladder asks for. given says which flags the user set.
func (o *original) selection(l *replication.Ladder, s *selection, given func(string) bool) error {
	repetitions := s.sel.Repetitions
	if o.a != nil {
		words, _ := withoutUnpinned(o.a.Manifest.Options)
		if err := s.recall(words, func(flag string) bool { return flag != "repetitions" && given(flag) }); err != nil {
			return err
		}
		if o.unpinned() {
			s.sel.Cores = unpinnedCores(o.a.Manifest.Drivers)
		}
	}
	if len(l.Claims) > 0 {
		s.sel.Only, s.sel.Repetitions = clauses(l), l.Repetitions
	}
	if repetitions > 0 {
		s.sel.Repetitions, l.Repetitions = repetitions, repetitions
	}
	return nil
}

// unpinned says that the original was measured with another core than the pinned one.
func (o *original) unpinned() bool {
	_, unpinned := withoutUnpinned(o.a.Manifest.Options)
	return unpinned
}

// clauses select exactly the cells of a ladder, a clause a profile.
func clauses(l *replication.Ladder) []string {
	var profiles []string
	columns := map[string]string{}
	for _, o := range l.Orders {
		for _, v := range []string{o.Greater, o.Less} {
			switch old, known := columns[o.Profile]; {
			case !known:
				profiles, columns[o.Profile] = append(profiles, o.Profile), v
			case !slices.Contains(strings.Split(old, "|"), v):
				columns[o.Profile] = old + "|" + v
			}
		}
	}
	var out []string
	for _, p := range profiles {
		out = append(out, "profile="+p+",variant="+columns[p])
	}
	return out
}
