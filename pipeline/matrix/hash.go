package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// hashed is what decides what is run and how, in the order it is hashed. Kind and rationale are words about it and stay out, as does every path.
type hashed struct {
	Schema    int         `json:"schema"`
	Matrix    string      `json:"matrix"`
	Seed      string      `json:"seed"`
	Deadlines Deadlines   `json:"deadlines"`
	NoFile    int         `json:"open_files_reserve"`
	Probe     []hashedRun `json:"probe"`
	Runs      []hashedRun `json:"runs"`
}

type hashedRun struct {
	ID         string  `json:"id"`
	Block      int     `json:"block"`
	Repetition int     `json:"repetition"`
	Seed       string  `json:"seed"`
	Profile    Profile `json:"profile"`
	Variant    Variant `json:"variant"`
}

// rehash sets p.Hash: SHA-256 over one JSON document with fixed field order, sorted map keys, integers only and no white space.
func (p *Plan) rehash() {
	doc := hashed{
		Schema: SchemaVersion, Matrix: p.Matrix, Seed: p.Seed, Deadlines: p.Deadlines, NoFile: p.NoFile,
		Probe: hashedRuns(p.Probe), Runs: hashedRuns(p.Runs),
	}
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(doc); err != nil {
		p.Hash = "" // cannot happen: plain strings, integers and maps of them
		return
	}
	p.Hash = hex.EncodeToString(h.Sum(nil))
}

func hashedRuns(runs []Run) []hashedRun {
	out := make([]hashedRun, 0, len(runs))
	for _, r := range runs {
		r.Profile.Rationale, r.Variant.Rationale = "", ""
		out = append(out, hashedRun{ID: r.ID, Block: r.Block, Repetition: r.Repetition, Seed: r.Seed, Profile: r.Profile, Variant: r.Variant})
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func or(v, fallback string) string {
	if v == "" {
		return fallback
	}
	return v
}
