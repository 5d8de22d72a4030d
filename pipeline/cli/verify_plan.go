package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
)

// auditReplan makes the plan again from the stored selection and compares its hash, plan.tsv, kind, columns and the settings of
// every record with it.
func auditReplan(into *summary.Audit, a *artifacts.Artifact) {
	p, err := replan(a.Manifest)
	if err != nil {
		into.Skip("plan-hash", oneLine(err.Error()))
		return
	}
	m := a.Manifest
	into.Check(p.Kind == m.Kind, "kind", artifacts.ManifestFile+":kind", p.Kind+", by the selection", m.Kind)
	ours := buildVersion().Commit
	if p.Hash != m.PlanHash && m.Code.Commit != "" && m.Code.Commit != ours {
		into.Note(false, "plan-hash", artifacts.ManifestFile+":plan_hash", p.Hash+" by this bench", m.PlanHash+" by the bench of commit "+m.Code.Commit+"; verify with that one too")
		return
	}
	into.Check(p.Hash == m.PlanHash, "plan-hash", artifacts.ManifestFile+":plan_hash", p.Hash, m.PlanHash)
	into.Check(slices.Equal(p.Columns(), m.Columns), "columns", artifacts.ManifestFile+":columns", strings.Join(p.Columns(), " "), strings.Join(m.Columns, " "))
	var tsv bytes.Buffer
	stored, err := os.ReadFile(filepath.Join(a.Dir, artifacts.PlanFile))
	if err == nil {
		err = p.WriteTSV(&tsv)
	}
	into.Check(err == nil && bytes.Equal(tsv.Bytes(), stored), "plan", artifacts.PlanFile, "the plan of the stored selection, byte for byte", "another plan")
	if err == nil && bytes.Equal(tsv.Bytes(), stored) {
		auditSettings(into, a, p)
	}
}

// auditSettings compares what each record says it ran with the plan. A rationale is words and may change.
func auditSettings(into *summary.Audit, a *artifacts.Artifact, p *matrix.Plan) {
	for i := range a.Records {
		r, want := &a.Records[i], p.Runs[a.Records[i].Index]
		got := matrix.Run{Profile: r.Profile, Variant: r.Variant, Repetition: r.Repetition, Block: r.Block}
		got.Profile.Rationale, got.Variant.Rationale = want.Profile.Rationale, want.Variant.Rationale
		same := reflect.DeepEqual(got, matrix.Run{Profile: want.Profile, Variant: want.Variant, Repetition: want.Repetition, Block: want.Block})
		into.Check(same, "planned-run", artifacts.JournalFile+":"+artifacts.FileBase(r.RunID, r.Attempt), "profile, variant, repetition and block of the plan", "others")
	}
}

// replan rebuilds the plan of a built-in matrix; an error says why that is impossible.
func replan(m artifacts.Manifest) (*matrix.Plan, error) {
	var s selection
	f := pflag.NewFlagSet("artifact", pflag.ContinueOnError)
	s.flags(f)
	words, unpinned := withoutUnpinned(m.Options)
	if err := f.Parse(words); err != nil {
		return nil, fmt.Errorf("the stored selection cannot be read: %w", err)
	}
	if unpinned {
		s.sel.Cores = unpinnedCores(m.Drivers)
	}
	if len(m.Options) == 0 || !slices.Contains(matrix.BuiltinNames(), s.matrix) {
		return nil, fmt.Errorf("matrix %q is not built in, and artifacts do not store matrix files", s.matrix)
	}
	mx, err := matrix.Builtin(s.matrix)
	if err != nil {
		return nil, err
	}
	s.sel.Drivers = s.drivers // stored by name
	p, err := matrix.NewPlan(mx, s.sel)
	if err != nil {
		return nil, err
	}
	return p, resolveStored(p, m)
}

// resolveStored gives every profile the backend that the manifest names. A probe may run on a link that no profile has; its backend is
// the one that makes the stored hash, where one does.
func resolveStored(p *matrix.Plan, m artifacts.Manifest) error {
	known := map[matrix.LinkSpec]string{}
	for _, r := range p.Runs {
		known[r.Link()] = m.LinkBackends[r.Profile.ID]
	}
	errNone := errors.New("the manifest names no link backend")
	for _, other := range []string{link.BackendNetem, link.BackendNFT, link.BackendNFQueue, matrix.BackendNone} {
		choose := func(spec matrix.LinkSpec) (string, error) {
			backend, ok := known[spec]
			if !ok {
				backend = other
			}
			if backend == "" {
				return "", errNone
			}
			return backend, nil
		}
		if err := p.ResolveBackends(choose); err != nil || p.Hash == m.PlanHash {
			return err
		}
		for _, r := range p.Runs { // resolved specs name their backend now
			known[r.Link()] = r.Profile.Link.Backend
		}
	}
	return nil
}
