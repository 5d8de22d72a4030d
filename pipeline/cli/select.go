package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"transportbench/artifacts"
	"transportbench/pipeline/matrix"
)

// maxMatrixBytes bounds a user's matrix file.
const maxMatrixBytes = 1 << 20

// selection holds the flags that plan and run share: which matrix, and what of it.
type selection struct {
	matrix  string
	sel     matrix.Selection
	drivers []string // NAME=PATH
}

func (s *selection) flags(f *pflag.FlagSet) {
	f.StringVar(&s.matrix, "matrix", "published", "built-in `name` ("+strings.Join(matrix.BuiltinNames(), ", ")+") or a .yaml file")
	f.StringArrayVar(&s.sel.Only, "only", nil, "keep the cells that match `key=v|v,key=v`; repeat for a union "+
		"(keys: suite, variant, payload, connections, loss in %, delay one way in ms, profile)")
	f.IntVar(&s.sel.Repetitions, "repetitions", 0, "repetitions of every profile (0: as the matrix says)")
	f.Float64Var(&s.sel.Scale, "scale", 0, "multiply bursts, warmups and samples; makes the artifact a smoke test")
	f.IntVar(&s.sel.MaxConnections, "max-connections", 0, "cap on connections; makes the artifact a smoke test")
	f.Float64Var(&s.sel.DeadlineScale, "deadline-scale", 0, "multiply every deadline, for a machine that only emulates")
	f.StringSliceVar(&s.sel.Extras, "extra", nil, "extra columns by `name`, or all")
	f.StringArrayVar(&s.drivers, "driver", nil, "measure your own driver, `NAME=PATH`, as the new column NAME or in place of the driver of that name")
}

// plan reads the matrix and orders the selected runs.
func (s *selection) plan() (*matrix.Plan, error) {
	m, err := loadMatrix(s.matrix)
	if err != nil {
		return nil, fail(ExitUsage, err)
	}
	bound, err := s.bound()
	if err != nil {
		return nil, err
	}
	sel := s.sel
	for _, b := range bound {
		sel.Drivers = append(sel.Drivers, b.name)
	}
	p, err := matrix.NewPlan(m, sel)
	return p, fail(ExitUsage, err)
}

// binding is one --driver NAME=PATH.
type binding struct{ name, path string }

func (s *selection) bound() ([]binding, error) {
	var all []binding
	for _, d := range s.drivers {
		name, path, ok := strings.Cut(d, "=")
		if !ok || name == "" || path == "" {
			return nil, usage("--driver %q: want NAME=PATH, such as mine=./mydriver", d)
		}
		if err := noImage(name, path); err != nil {
			return nil, err
		}
		all = append(all, binding{name, path})
	}
	return all, nil
}

// unused refuses a bound driver that no cell of the plan calls: it would silently not be measured.
func (s *selection) unused(p *matrix.Plan) error {
	bound, err := s.bound()
	if err != nil {
		return err
	}
	for _, b := range bound {
		if !slices.Contains(p.Drivers(), b.name) {
			return usage("--driver %s: no cell of the plan uses it; let --only select it too, such as variant=%s", b.name, b.name)
		}
	}
	return nil
}

// noImage tells a container image from a file. One without a digest is refused for what it is; no image is run but those that bench makes.
func noImage(name, path string) error {
	if _, err := os.Stat(path); err == nil || filepath.IsAbs(path) || strings.HasPrefix(path, ".") || !strings.ContainsAny(path, ":@") {
		return nil // a file, or the name of one that is missing
	}
	if err := matrix.CheckImage(path); err != nil {
		return usage("--driver %s: %w", name, err)
	}
	return usage("--driver %s: %s is an image, and this version makes its images from files; give the driver's file, %s=./PATH", name, path, name)
}

func loadMatrix(name string) (*matrix.Matrix, error) {
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return matrix.Builtin(name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("matrix %s: %w; name an existing file or one of %s", name, cause(err), strings.Join(matrix.BuiltinNames(), ", "))
	}
	if !info.Mode().IsRegular() || info.Size() > maxMatrixBytes {
		return nil, fmt.Errorf("matrix %s: want a regular file of at most %d bytes", name, maxMatrixBytes)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("matrix %s: %w; make it readable for you", name, cause(err))
	}
	return matrix.Parse(name, data)
}

// cause takes operation and path from an error of a file, which the message names already.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// words is the selection as an artifact stores it, without paths: bound drivers by name, a matrix file by its base name.
func (s *selection) words() []string {
	words := []string{"--matrix=" + filepath.Base(s.matrix)}
	for _, o := range s.sel.Only {
		words = append(words, "--only="+o)
	}
	if len(s.sel.Extras) > 0 {
		words = append(words, "--extra="+strings.Join(s.sel.Extras, ","))
	}
	if s.sel.Repetitions > 0 {
		words = append(words, fmt.Sprintf("--repetitions=%d", s.sel.Repetitions))
	}
	if s.sel.Scale > 0 {
		words = append(words, "--scale="+strconv.FormatFloat(s.sel.Scale, 'g', -1, 64))
	}
	if s.sel.MaxConnections > 0 {
		words = append(words, fmt.Sprintf("--max-connections=%d", s.sel.MaxConnections))
	}
	if s.sel.DeadlineScale > 0 {
		words = append(words, "--deadline-scale="+strconv.FormatFloat(s.sel.DeadlineScale, 'g', -1, 64))
	}
	for _, d := range s.drivers {
		name, _, _ := strings.Cut(d, "=")
		words = append(words, "--driver="+name)
	}
	if len(s.sel.Cores) > 0 {
		words = append(words, unpinnedWord)
	}
	return words
}

// unpinnedWord is how an artifact remembers --allow-unpinned; the cores themselves are in the names of its drivers.
const unpinnedWord = "--allow-unpinned"

// withoutUnpinned takes that word out.
func withoutUnpinned(words []string) (rest []string, unpinned bool) {
	rest = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == unpinnedWord })
	return rest, len(rest) < len(words)
}

// unpinnedCores reads the cores from the drivers of an artifact: kcp-c@<core>.
func unpinnedCores(drivers map[string]artifacts.DriverRef) map[string]string {
	cores := map[string]string{}
	for name := range drivers {
		if driver, core, ok := strings.Cut(name, "@"); ok {
			cores[driver] = core
		}
	}
	return cores
}

// recall fills the selection from the words of an artifact, as far as they name no file: a matrix file and bound drivers have
// to be given again. given says which flags the user set; those stand.
func (s *selection) recall(words []string, given func(flag string) bool) error {
	var stored selection
	f := pflag.NewFlagSet("artifact", pflag.ContinueOnError)
	stored.flags(f)
	if err := f.Parse(words); err != nil {
		return usage("artifact: its stored selection cannot be read: %w", err)
	}
	if err := s.missing(stored, given); err != nil {
		return err
	}
	if !given("matrix") {
		s.matrix = stored.matrix
	}
	for _, name := range []string{"only", "extra", "repetitions", "scale", "max-connections", "deadline-scale"} {
		if given(name) {
			return nil // the user selects anew; the plan hash decides whether it is the same
		}
	}
	s.sel = stored.sel
	return nil
}

// missing names what the artifact was measured with and no artifact stores: the paths of drivers and of a matrix file.
func (s *selection) missing(stored selection, given func(flag string) bool) error {
	for _, name := range stored.drivers {
		if !slices.ContainsFunc(s.drivers, func(d string) bool { return strings.HasPrefix(d, name+"=") }) {
			return usage("the artifact was measured with --driver %s=PATH, and paths are not stored; give it again", name)
		}
	}
	if _, err := loadMatrix(stored.matrix); err != nil && !given("matrix") {
		return usage("the artifact was measured with --matrix %s, which is not in this folder; give its path again", stored.matrix)
	}
	return nil
}
