package matrix

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

// SchemaVersion is the version of the YAML schema that README.md specifies.
const SchemaVersion = 1

// Kinds of a plan. An artifact of kind reference comes from published tables and has no plan.
const (
	KindPublished = "published"
	KindCustom    = "custom"
	KindQuick     = "quick"
	KindSmoke     = "smoke"
)

// Matrix is one experiment: all its profiles and every column it knows, extras included.
type Matrix struct {
	Name      string
	FileHash  string // SHA-256 of the file, hex
	Kind      string // kind of an unchanged plan of it: published or quick for the built-in ones of that name, else custom
	Seed      string
	Floors    Floors
	Deadlines Deadlines
	NoFile    int // descriptors a process needs beside one per connection
	Probe     []ProbeStep
	Profiles  []Profile
	Variants  []Variant
	Bound     Variant // template of a column that only --driver names
}

// ProbeStep is one short run before each block. It measures the machine, not a column.
type ProbeStep struct {
	Variant string
	Profile Profile
}

// Floors bound what scaling may shrink a profile to; it never raises a count above the matrix's own.
type Floors struct {
	Windows int // burst: at least so many windows
	Warmup  int // rounds
	Samples int // rounds
}

//go:embed published.yaml published-long.yaml gate.yaml quick.yaml
var builtin embed.FS

// builtinKinds lists the embedded matrices with the kind of their unchanged plan.
func builtinKinds() map[string]string {
	return map[string]string{"published": KindPublished, "published-long": KindCustom, "gate": KindCustom, "quick": KindQuick}
}

// Builtin returns the embedded matrix of that name.
func Builtin(name string) (*Matrix, error) {
	kind, ok := builtinKinds()[name]
	if !ok {
		return nil, fmt.Errorf("matrix %q: not built in, choose from %s or name a file ending in .yaml", name, strings.Join(BuiltinNames(), ", "))
	}
	file := name + ".yaml"
	data, err := builtin.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("matrix %s: %w", name, err)
	}
	m, err := Parse(file, data)
	if err != nil {
		return nil, err
	}
	m.Kind = kind
	return m, nil
}

// BuiltinNames lists the embedded matrices in alphabetical order.
func BuiltinNames() []string {
	var names []string
	for name := range builtinKinds() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// columns returns the variants of the plan proper, without extras.
func (m *Matrix) columns() []Variant {
	return slices.DeleteFunc(slices.Clone(m.Variants), func(v Variant) bool { return v.Extra })
}

// variant finds a column, extras included.
func (m *Matrix) variant(name string) (Variant, bool) {
	i := slices.IndexFunc(m.Variants, func(v Variant) bool { return v.Name == name })
	if i < 0 {
		return Variant{}, false
	}
	return m.Variants[i], true
}
