package images

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"transportbench/pipeline/strictyaml"
)

// File is where the contents of the images stand, in the file system that Load gets.
const File = "images.yaml"

// Spec is images.yaml, checked: what is in each image.
type Spec struct {
	repository                string
	owner                     int
	created                   time.Time
	source, version, licenses string
	layouts                   []layout
}

// layout is what the images of one entry have in common.
type layout struct {
	names      []string
	title      string
	bound      bool // drivers that a user brings look like this too
	user       int
	entrypoint []string
	files      []placed
	volumes    []string // empty folders of the owner
}

// placed is a file of an image.
type placed struct{ path, from string }

// Values of placed.from that are no file of the drivers folder.
const (
	fromBench  = "bench"
	fromDriver = "driver"
)

type rawSpec struct {
	Schema     strictyaml.Integer `yaml:"schema"`
	Repository string             `yaml:"repository"`
	Owner      strictyaml.Integer `yaml:"owner"`
	Created    string             `yaml:"created"`
	Source     string             `yaml:"source"`
	Version    string             `yaml:"version"`
	Licenses   string             `yaml:"licenses"`
	Images     []rawLayout        `yaml:"images"`
}

type rawLayout struct {
	Names      []string           `yaml:"names"`
	Title      string             `yaml:"title"`
	Bound      bool               `yaml:"bound"`
	User       strictyaml.Integer `yaml:"user"`
	Entrypoint []string           `yaml:"entrypoint"`
	Files      []rawFile          `yaml:"files"`
	Volumes    []string           `yaml:"volumes"`
}

type rawFile struct {
	Path string `yaml:"path"`
	From string `yaml:"from"`
}

// Load reads images.yaml from fsys, strictly. An error is one line, "images.yaml:LINE: what is wrong".
func Load(fsys fs.FS) (Spec, error) {
	data, err := fs.ReadFile(fsys, File)
	if err != nil {
		return Spec{}, fmt.Errorf("%s: %w", File, err)
	}
	return parse(data)
}

func parse(data []byte) (Spec, error) {
	var raw rawSpec
	src, err := strictyaml.Decode(File, data, &raw)
	if err != nil {
		return Spec{}, err
	}
	c := checker{src: src, names: map[string]bool{}}
	c.head(raw)
	for i, l := range raw.Images {
		c.layout(fmt.Sprintf("images[%d]", i), l)
	}
	if c.err != nil {
		return Spec{}, c.err
	}
	return raw.spec(), nil
}

// spec copies a checked file.
func (raw rawSpec) spec() Spec {
	created, _ := time.Parse(time.RFC3339, raw.Created) // checked
	s := Spec{repository: raw.Repository, owner: int(raw.Owner), created: created, source: raw.Source, version: raw.Version, licenses: raw.Licenses}
	for _, r := range raw.Images {
		l := layout{names: r.Names, title: r.Title, bound: r.Bound, user: int(r.User), entrypoint: r.Entrypoint, volumes: r.Volumes}
		for _, f := range r.Files {
			l.files = append(l.files, placed{f.Path, f.From})
		}
		s.layouts = append(s.layouts, l)
	}
	return s
}

// Names lists the images of the file in its order.
func (s Spec) Names() []string {
	var names []string
	for _, l := range s.layouts {
		names = append(names, l.names...)
	}
	return names
}

// layoutOf finds the layout of an image: by its name, for a driver over another core (kcp-c@<core>) by the name before the @, and for a
// bound driver that of the drivers.
func (s Spec) layoutOf(name string, bound bool) (layout, bool) {
	base, _, _ := strings.Cut(name, "@")
	i := slices.IndexFunc(s.layouts, func(l layout) bool { return slices.Contains(l.names, base) })
	if bound {
		i = slices.IndexFunc(s.layouts, func(l layout) bool { return l.bound })
	}
	if i < 0 {
		return layout{}, false
	}
	return s.layouts[i], true
}
