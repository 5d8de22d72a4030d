package matrix

import (
	"os"
	"strings"
	"testing"
)

// small is a valid file that the cases below break one line at a time.
const small = `schema: 1
name: mine
seed: any
scale_floors: {windows: 2, warmup: 10, samples: 100}
deadlines: {client: 10s, server_extra: 1s, ready: 1s, stop: 1s}
open_files_reserve: 64
link: {mtu: 1500, limit: 1000, backend: auto, topology: lo}
suites:
  single: {window: 64, warmup: 1, samples: 1, repetitions: 1, listeners: 1, placement: unpinned, workers: 4}
profiles:
  - {suite: single, payload: 800, connections: 1, messages: 10, loss_percent: 0.5, one_way_delay: 500us}
  - suite: single
    payload: 64
    connections: 1
    messages: 10
    window: 8
variants:
  - {name: a, driver: d}
  - {name: b, driver: d, mtu: {single: 1400}}
`

func TestSmallMatrix(t *testing.T) {
	m, err := Parse("mine.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if m.Profiles[0].ID != "single-800B-1c-l0.5-d0.5" || m.Profiles[0].Window != 64 || m.Profiles[1].Window != 8 || m.Kind != KindCustom {
		t.Errorf("%+v", m.Profiles)
	}
}

// wrong is one change of the valid file with the error it must give.
type wrong struct{ name, old, new, want string }

// wrongValues are files whose YAML or numbers are wrong.
func wrongValues() []wrong {
	return []wrong{
		{"unknown field", "seed: any", "sead: any", `mine.yaml:3: unknown field "sead"`},
		{"unknown profile field", "window: 8", "windows: 8", `mine.yaml:16: unknown field "windows"`},
		{"duplicate key", "seed: any", "name: any", `mine.yaml:3: mapping key "name" already defined`},
		{"duplicate id", "loss_percent: 0.5, one_way_delay: 500us}", "}\n  - {suite: single, payload: 800, connections: 1, messages: 11}", "mine.yaml:12: profiles[1]: duplicate id single-800B-1c-l0-d0"},
		{"duplicate column", "name: b", "name: a", "mine.yaml:19: variants[1].name: duplicate column a"},
		{"unknown api", "{name: a, driver: d}", "{name: a, driver: d, api: batch-full}", `mine.yaml:18: variants[0].api: unknown value "batch-full"`},
		{"full policy of sends", "{name: a, driver: d}", "{name: a, driver: d, policy: full}", "mine.yaml:18: variants[0].policy: full is about batch calls"},
		{"zero count", "messages: 10\n", "messages: 0\n", "mine.yaml:15: profiles[1].messages: is 0, want 1 to"},
		{"missing count", "    messages: 10\n", "", "mine.yaml:12: profiles[1].messages: is 0"},
		{"negative", "payload: 64", "payload: -64", "mine.yaml:13: profiles[1].payload: is -64, want 17 to 65536"},
		{"payload under 17", "payload: 64", "payload: 16", "mine.yaml:13: profiles[1].payload: is 16, want 17"},
		{"absurd count", "messages: 10\n", "messages: 99999999999\n", "mine.yaml:15: profiles[1].messages: is 99999999999"},
		{"overflow", "messages: 10\n", "messages: 99999999999999999999\n", "mine.yaml:15: want an integer"},
		{"fraction", "messages: 10\n", "messages: 10.5\n", "mine.yaml:15: want an integer, found 10.5"},
		{"text for a number", "messages: 10\n", "messages: many\n", "mine.yaml:15: want an integer, found many"},
		{"null", "messages: 10\n", "messages:\n", "mine.yaml:15: empty values, anchors"},
	}
}

// wrongMeaning are files that say something which no experiment can mean.
func wrongMeaning() []wrong {
	return []wrong{
		{"unknown suite", "- suite: single", "- suite: double", `mine.yaml:12: profiles[1].suite: unknown suite "double": choose from single`},
		{"unknown suite table", "  single: {w", "  double: {w", "mine.yaml:9: suites.double: unknown suite"},
		{"unknown placement", "unpinned", "anywhere", `placement: unknown value "anywhere": choose from unpinned`},
		{"unknown backend", "backend: auto", "backend: tbf", `mine.yaml:7: link.backend: unknown value "tbf": choose from auto`},
		{"reserved topology", "topology: lo", "topology: dumbbell", `mine.yaml:7: link.topology: unknown value "dumbbell"`},
		{"many connections in single", "connections: 1\n", "connections: 2\n", "mine.yaml:14: profiles[1].connections: is 2, want 1 to 1"},
		{"loss over 100", "0.5", "100.5", "mine.yaml:11: want 0 to 100"},
		{"loss not finite", "0.5", ".inf", "mine.yaml:11: want a number"},
		{"loss too fine", "0.5", "0.00001", "mine.yaml:11: want 0 to 100 in steps"},
		{"delay without unit", "500us", "5", "mine.yaml:11: want a duration"},
		{"negative delay", "500us", "-5ms", "mine.yaml:11: profiles[0].one_way_delay: is -5ms"},
		{"bad api", "driver: d}", "driver: d, api: fast}", `mine.yaml:18: variants[0].api: unknown value "fast"`},
		{"bad name", "name: a", "name: A/b", "mine.yaml:18: variants[0].name"},
		{"bad mtu suite", "mtu: {single", "mtu: {double", `variants[1].mtu: unknown value "double"`},
		{"other schema", "schema: 1", "schema: 2", "mine.yaml:1: schema: is 2, this program reads schema 1"},
		{"anchor", "seed: any", "seed: &a any", "mine.yaml:3: empty values, anchors"},
		{"second document", "schema: 1", "---\nschema: 1\n---\nschema: 1", "want exactly one YAML document"},
		{"not YAML", "seed: any", "seed: [", "mine.yaml:"},
		{"no seed", "seed: any\n", "", "mine.yaml:1: seed: is missing"},
		{"probe without column", "variants:", "probe:\n  - {variant: zz, suite: single, payload: 64, connections: 1, messages: 1}\nvariants:", `mine.yaml:18: probe[0].variant: no column "zz"`},
		{"named template", "variants:", "bound: {name: x}\nvariants:", "mine.yaml:17: bound: takes no name"},
		{"image with a tag", "{name: a, driver: d}", "{name: a, driver: d, image: ghcr.io/me/d:latest}", `mine.yaml:18: variants[0].image: image "ghcr.io/me/d:latest" has no digest, and what a tag means can change: want ghcr.io/me/d@sha256:`},
		{"image without anything", "{name: a, driver: d}", "{name: a, driver: d, image: 'localhost:5000/d'}", `mine.yaml:18: variants[0].image: image "localhost:5000/d" has no digest, and what a tag means can change: want localhost:5000/d@sha256:`},
		{"image with half a digest", "{name: a, driver: d}", "{name: a, driver: d, image: 'd@sha256:abc'}", `mine.yaml:18: variants[0].image: image "d@sha256:abc": "sha256:abc" is no digest`},
		{"image with another hash", "{name: a, driver: d}", "{name: a, driver: d, image: 'd@md5:abc'}", `"md5:abc" is no digest`},
		{"image as a driver", "{name: a, driver: d}", "{name: a, driver: 'ghcr.io/me/d:1'}", `mine.yaml:18: variants[0].driver: "ghcr.io/me/d:1" is not the name of a file; an image has a field`},
	}
}

func TestWrongFilesNameFileAndLine(t *testing.T) {
	for _, c := range append(wrongValues(), wrongMeaning()...) {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(small, c.old) {
				t.Fatalf("case does not apply: %q", c.old)
			}
			_, err := Parse("mine.yaml", []byte(strings.Replace(small, c.old, c.new, 1)))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// A column that is an image is planned and hashed as one, is not run from anything else, and a bound file takes its place.
func TestColumnOfAnImage(t *testing.T) {
	ref := "ghcr.io/me/d@sha256:" + strings.Repeat("ab", 32)
	m, err := Parse("mine.yaml", []byte(strings.Replace(small, "{name: a, driver: d}", "{name: a, driver: d, image: '"+ref+"'}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	image, err := NewPlan(m, Selection{Only: []string{"variant=a"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := image.Runs[0]; r.Variant.Image != ref || !strings.Contains(r.Unsupported(), "bind one with --driver d=PATH") {
		t.Errorf("%+v: %s", r.Variant, r.Unsupported())
	}
	file, err := NewPlan(m, Selection{Only: []string{"variant=a"}, Drivers: []string{"d"}})
	if err != nil {
		t.Fatal(err)
	}
	if r := file.Runs[0]; r.Variant.Image != "" || r.Unsupported() != "" || file.Hash == image.Hash {
		t.Errorf("%+v: %s", r.Variant, r.Unsupported())
	}
}

func TestOversizedMatrixIsRefused(t *testing.T) {
	large := strings.Repeat("# comment\n", maxFileBytes/10+1)
	if _, err := Read("mine.yaml", strings.NewReader(large)); err == nil || !strings.Contains(err.Error(), "mine.yaml: larger than") {
		t.Errorf("got %v, want a refusal by size", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(impaired(everyImpairment)))
	f.Add([]byte("a: &a [*a]"))
	f.Add([]byte("profiles: [{suite: single}]\nschema: 1\n? x"))
	for _, name := range BuiltinNames() {
		data, err := os.ReadFile(name + ".yaml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Parse("fuzz.yaml", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of two lines: %q", err)
			}
			return
		}
		if total(m) > maxRuns {
			return
		}
		p, err := NewPlan(m, Selection{Drivers: []string{"bound"}})
		if err != nil {
			t.Fatalf("a valid matrix gives no plan: %v", err)
		}
		checkPlan(t, p)
	})
}

// total is an upper bound of the runs of m with one bound column.
func total(m *Matrix) int {
	n := 0
	for _, p := range m.Profiles {
		n += p.Repetitions * (len(m.Variants) + 1)
	}
	return n
}
