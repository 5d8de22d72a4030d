package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// maxRuns bounds a plan.
const maxRuns = 200_000

// NewPlan orders the selected runs of m: profiles in file order, then repetitions, then the columns of the block, rotated to the left by
// (profile + repetition) modulo their number. Both count from 0; the profile counts in the whole matrix, so a selection keeps the order of the full plan.
func NewPlan(m *Matrix, sel Selection) (*Plan, error) {
	profiles, err := m.selectedProfiles(sel)
	if err != nil {
		return nil, err
	}
	columns, err := m.selectedColumns(sel)
	if err != nil {
		return nil, err
	}
	keep, err := newFilter(sel.Only, profiles, columns)
	if err != nil {
		return nil, err
	}
	p := &Plan{Matrix: m.Name, FileHash: m.FileHash, Kind: sel.kind(m), Seed: m.Seed, Deadlines: m.Deadlines, NoFile: m.NoFile}
	for _, v := range columns {
		p.columns = append(p.columns, v.Name)
	}
	for i, profile := range profiles {
		if !profile.dropped {
			p.addProfile(i, profile.Profile, keep.columns(profile.Profile, columns))
		}
	}
	if len(p.Runs) == 0 {
		return nil, fmt.Errorf("matrix %s: the selection leaves no run: its parts exclude each other", m.Name)
	}
	if len(p.Runs) > maxRuns {
		return nil, fmt.Errorf("matrix %s: %d runs, more than %d", m.Name, len(p.Runs), maxRuns)
	}
	p.addProbe(m, sel)
	if sel.patient() {
		p.scaleDeadlines(sel.DeadlineScale)
	}
	p.rehash()
	return p, nil
}

// addProfile appends the blocks of one profile.
func (p *Plan) addProfile(index int, profile Profile, columns []Variant) {
	if len(columns) == 0 {
		return
	}
	block := 0
	if n := len(p.Runs); n > 0 {
		block = p.Runs[n-1].Block + 1
	}
	for rep := range profile.Repetitions {
		for k := range columns {
			v := columns[(index+rep+k)%len(columns)]
			p.Runs = append(p.Runs, Run{
				ID: runID(profile.ID, v.Name, rep+1), Index: len(p.Runs), Block: block + rep, Profile: profile, Variant: v,
				Repetition: rep + 1, Seed: blockSeed(p.Seed, profile.ID, rep+1),
			})
		}
	}
}

// scaleDeadlines multiplies what bounds the parts of a run. It changes the hash: a plan with other deadlines is another plan.
func (p *Plan) scaleDeadlines(f float64) {
	times := func(d time.Duration) time.Duration { return time.Duration(float64(d) * f) }
	d := &p.Deadlines
	d.Client, d.ServerExtra, d.Ready, d.Stop = times(d.Client), times(d.ServerExtra), times(d.Ready), times(d.Stop)
	for _, runs := range [][]Run{p.Probe, p.Runs} {
		for i := range runs {
			runs[i].Profile.Deadline = times(runs[i].Profile.Deadline)
		}
	}
}

// addProbe prepares the runs that precede each block, scaled like them. Their ids start with "probe/", which no profile's does.
func (p *Plan) addProbe(m *Matrix, sel Selection) {
	for _, step := range m.Probe {
		if sel.scaled() {
			step.Profile = step.Profile.scaled(sel.Scale, m.Floors)
		}
		v, ok := m.variant(step.Variant)
		if !ok {
			continue // Parse refuses such a file
		}
		p.Probe = append(p.Probe, Run{
			ID: "probe/" + v.Name, Index: -1, Block: -1, Profile: step.Profile, Variant: v, Repetition: 1,
			Seed: blockSeed(p.Seed, "probe/"+step.Profile.ID, 1),
		})
	}
}

func runID(profile, variant string, repetition int) string {
	return fmt.Sprintf("%s/%s/r%d", profile, variant, repetition)
}

// blockSeed is SHA-256 over the matrix seed, the profile and the repetition, separated by newlines: equal for all columns of a block.
func blockSeed(seed, profile string, repetition int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d", seed, profile, repetition))
	return hex.EncodeToString(sum[:])
}

// ResolveBackends replaces every "auto" or named backend by what choose answers for that link, then renews the hash: the choice is part of the plan.
// choose is asked once for each different link. It answers BackendNone where nothing can do the link, which makes those runs unsupported.
func (p *Plan) ResolveBackends(choose func(LinkSpec) (string, error)) error {
	known := map[LinkSpec]string{}
	for _, runs := range [][]Run{p.Probe, p.Runs} {
		for i := range runs {
			spec := runs[i].Link()
			backend, ok := known[spec]
			if !ok {
				var err error
				if backend, err = choose(spec); err != nil {
					return fmt.Errorf("link of %s: %w", runs[i].Profile.ID, err)
				}
				known[spec] = backend
			}
			runs[i].Profile.Link.Backend = backend
		}
	}
	p.rehash()
	return nil
}
