package strictyaml

import (
	"math"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Integer is an int that accepts YAML integers only: the library itself would take 1.5, "1" and 1e3 too.
type Integer int

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (i *Integer) UnmarshalYAML(n ast.Node) error {
	if in, ok := n.(*ast.IntegerNode); ok {
		switch v := in.Value.(type) {
		case int64:
			*i = Integer(v)
			return nil
		case uint64:
			if v <= math.MaxInt64 {
				*i = Integer(v)
				return nil
			}
		}
	}
	return &yaml.SyntaxError{Message: "want an integer, found " + n.GetToken().Value, Token: n.GetToken()}
}
