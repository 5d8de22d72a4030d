package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

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

func (s *selection) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.matrix, "matrix", "published", "built-in `name` ("+strings.Join(matrix.BuiltinNames(), ", ")+") or a .yaml file")
	f.StringArrayVar(&s.sel.Only, "only", nil, "`key=v|v,key=v`: keep matching cells; repeat for a union "+
		"(keys suite, variant, payload, connections, loss in %, delay one way in ms, profile)")
	f.IntVar(&s.sel.Repetitions, "repetitions", 0, "repetitions of every profile (0: as the matrix says)")
	f.Float64Var(&s.sel.Scale, "scale", 0, "multiply bursts, warmups and samples; makes the artifact a smoke test")
	f.IntVar(&s.sel.MaxConnections, "max-connections", 0, "cap on connections; makes the artifact a smoke test")
	f.StringSliceVar(&s.sel.Extras, "extra", nil, "extra columns by `name`, or all")
	f.StringArrayVar(&s.drivers, "driver", nil, "`NAME=PATH`: measure your own driver as column NAME, or replace the driver of NAME")
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
			return nil, usage("driver %q: want NAME=PATH", d)
		}
		all = append(all, binding{name, path})
	}
	return all, nil
}

func loadMatrix(name string) (*matrix.Matrix, error) {
	if !strings.HasSuffix(name, ".yaml") && !strings.HasSuffix(name, ".yml") {
		return matrix.Builtin(name)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxMatrixBytes {
		return nil, fmt.Errorf("matrix %s: want a regular file of at most %d bytes", name, maxMatrixBytes)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	return matrix.Parse(name, data)
}
