// Package strictyaml reads small YAML files of ours: no unknown fields, no indirections, errors of one line with file and line number.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of a file that keep a hostile one from costing more than a moment.
const (
	maxFileBytes = 1 << 20
	maxLineBytes = 4096
	maxBrackets  = 5000 // opening brackets and braces: bounds the depth of flow collections
	maxDashes    = 64   // "- " in one line: bounds the depth of sequences
)

// Source is a parsed file that can point at the place of a value.
type Source struct {
	file string
	tree *ast.File
}

// Decode decodes the one document of data into out, a pointer to a struct with yaml tags. file names the data in errors, which are
// one line, "FILE:LINE: what is wrong".
func Decode(file string, data []byte, out any) (Source, error) {
	if err := checkBytes(file, data); err != nil {
		return Source{}, err
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return Source{}, located(file, err)
	}
	src := Source{file: file, tree: tree}
	if err := src.checkTree(); err != nil {
		return Source{}, err
	}
	if err := yaml.NodeToValue(tree.Docs[0].Body, out, yaml.Strict()); err != nil {
		return Source{}, located(file, err)
	}
	return src, nil
}

// checkBytes refuses what could make the parser itself slow or deep.
func checkBytes(file string, data []byte) error {
	if len(data) > maxFileBytes {
		return fmt.Errorf("%s: larger than %d bytes", file, maxFileBytes)
	}
	if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxBrackets {
		return fmt.Errorf("%s: more than %d brackets", file, maxBrackets)
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(line) > maxLineBytes {
			return fmt.Errorf("%s:%d: line longer than %d bytes", file, n, maxLineBytes)
		}
		if bytes.Count(line, []byte("- ")) > maxDashes {
			return fmt.Errorf("%s:%d: more than %d dashes", file, n, maxDashes)
		}
	}
	return nil
}

// located turns an error of the YAML library into one line with file and line number.
func located(file string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) || at.GetToken() == nil || at.GetToken().Position == nil {
		return fmt.Errorf("%s: %s", file, oneLine(err.Error()))
	}
	return fmt.Errorf("%s:%d: %s", file, at.GetToken().Position.Line, oneLine(at.GetMessage()))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// checkTree accepts exactly one document, a mapping without anchors, aliases, merges or tags.
func (s Source) checkTree() error {
	if len(s.tree.Docs) != 1 || s.tree.Docs[0].Body == nil {
		return fmt.Errorf("%s: want exactly one YAML document", s.file)
	}
	var c indirections
	ast.Walk(&c, s.tree.Docs[0].Body)
	if c.found != nil {
		return fmt.Errorf("%s:%d: empty values, anchors, aliases, merge keys and tags are not allowed", s.file, c.found.GetToken().Position.Line)
	}
	if s.tree.Docs[0].Body.Type() != ast.MappingType {
		return fmt.Errorf("%s: want a mapping of fields to values", s.file)
	}
	return nil
}

// indirections is a visitor that remembers the first node which stands for nothing or for another one.
type indirections struct{ found ast.Node }

func (c *indirections) Visit(n ast.Node) ast.Visitor {
	switch n.Type() {
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType, ast.TagType, ast.NullType:
		c.found = n
	}
	if c.found != nil {
		return nil
	}
	return c
}

// Errorf reports a wrong value at path, for instance "profiles[3].payload"; the line is that of the longest part of path that exists.
func (s Source) Errorf(path, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: %s", s.file, s.line(path), path, fmt.Sprintf(format, args...))
}

func (s Source) line(path string) int {
	for p := path; p != ""; {
		if q, err := yaml.PathString("$." + p); err == nil {
			if n, err := q.FilterFile(s.tree); err == nil && n != nil && n.GetToken() != nil {
				return n.GetToken().Position.Line
			}
		}
		p = p[:max(strings.LastIndexAny(p, ".["), 0)]
	}
	return 1
}
