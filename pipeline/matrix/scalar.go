package matrix

import (
	"math"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"transportbench/pipeline/strictyaml"
)

// integer accepts YAML integers only.
type integer = strictyaml.Integer

// span is a duration written with its unit, such as 450s or 5ms.
type span time.Duration

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (d *span) UnmarshalYAML(n ast.Node) error {
	v, err := time.ParseDuration(n.GetToken().Value)
	if err != nil || n.Type() != ast.StringType {
		return &yaml.SyntaxError{Message: "want a duration with its unit such as 5ms, found " + n.GetToken().Value, Token: n.GetToken()}
	}
	*d = span(v)
	return nil
}

// percent is a number from 0 to 100, kept in parts per million so that it is exact.
type percent int

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (p *percent) UnmarshalYAML(n ast.Node) error {
	var v float64
	switch x := n.(type) {
	case *ast.IntegerNode:
		if err := yaml.NodeToValue(x, &v); err != nil {
			return err
		}
	case *ast.FloatNode:
		v = x.Value
	default:
		return &yaml.SyntaxError{Message: "want a number, found " + n.GetToken().Value, Token: n.GetToken()}
	}
	ppm := math.Round(v * ppmPerPercent)
	if !(v >= 0 && v <= 100) || math.Abs(ppm-v*ppmPerPercent) > 1e-6 {
		return &yaml.SyntaxError{Message: "want 0 to 100 in steps of 0.0001, found " + n.GetToken().Value, Token: n.GetToken()}
	}
	*p = percent(ppm)
	return nil
}
