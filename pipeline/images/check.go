package images

import (
	"fmt"
	"math"
	"regexp"
	"sync"
	"time"

	"transportbench/pipeline/strictyaml"
)

// schemaVersion is the one that this program reads.
const schemaVersion = 1

const (
	maxImages = 64
	maxLayers = 32
	maxText   = 200
	maxID     = 1<<21 - 1 // what the numeric fields of a ustar header hold
)

// names are the forms of names, made at their first use: most commands never read images.yaml.
var names = sync.OnceValue(func() (n struct{ image, repository, top, plain *regexp.Regexp }) {
	// what an engine takes for the last part of a reference
	n.image = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*$`)
	// further parts before it, the first of which may be a registry
	n.repository = regexp.MustCompile(`^[a-z0-9]+([._-][a-z0-9]+)*(/[a-z0-9]+([._-][a-z0-9]+)*)*$`)
	// a name in the root of the image: no folder above it would have an owner or a time
	n.top = regexp.MustCompile(`^/[a-z0-9][a-z0-9_-]{0,63}$`)
	// a file in the drivers folder and nowhere else
	n.plain = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	return n
})

// checker keeps the first wrong value of a file.
type checker struct {
	src   strictyaml.Source
	names map[string]bool
	bound bool // a layout for bound drivers was seen
	err   error
}

func (c *checker) want(ok bool, path, format string, args ...any) {
	if !ok && c.err == nil {
		c.err = c.src.Errorf(path, format, args...)
	}
}

// index names the i-th entry of a list.
func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

func (c *checker) text(path, v string) {
	c.want(v != "" && len(v) <= maxText, path, "want 1 to %d bytes of text", maxText)
}

func (c *checker) id(path string, v strictyaml.Integer) {
	c.want(v >= 0 && v <= maxID, path, "is %d, want 0 to %d", v, maxID)
}

func (c *checker) head(raw rawSpec) {
	c.want(raw.Schema == schemaVersion, "schema", "is %d, this program reads schema %d", raw.Schema, schemaVersion)
	c.want(len(raw.Repository) <= maxText && names().repository.MatchString(raw.Repository), "repository",
		"%q is not the name of a repository: want lower-case letters, digits, dots, dashes and slashes", raw.Repository)
	c.id("owner", raw.Owner)
	t, err := time.Parse(time.RFC3339, raw.Created)
	c.want(err == nil && t.Location() == time.UTC && t.Nanosecond() == 0 && t.Unix() >= 0 && t.Unix() <= math.MaxUint32, "created",
		"%q is not a time: want whole seconds of UTC, such as 1970-01-01T00:00:00Z", raw.Created)
	c.text("source", raw.Source)
	c.text("version", raw.Version)
	c.text("licenses", raw.Licenses)
	c.want(len(raw.Images) > 0 && len(raw.Images) <= maxImages, "images", "has %d entries, want 1 to %d", len(raw.Images), maxImages)
}

func (c *checker) layout(path string, l rawLayout) {
	c.want(len(l.Names) > 0 && len(l.Names) <= maxImages, path+".names", "has %d names, want 1 to %d", len(l.Names), maxImages)
	for i, n := range l.Names {
		at := index(path+".names", i)
		c.want(len(n) <= maxText && names().image.MatchString(n), at, "%q is not a name: want lower-case letters, digits, dots and dashes", n)
		c.want(!c.names[n], at, "duplicate image %s", n)
		c.names[n] = true
	}
	c.text(path+".title", l.Title)
	c.id(path+".user", l.User)
	c.want(!l.Bound || !c.bound, path+".bound", "one entry is for bound drivers already")
	c.bound = c.bound || l.Bound
	c.want(len(l.Files) > 0 && len(l.Files)+len(l.Volumes) <= maxLayers, path+".files",
		"has %d files and %d volumes, want at least one file and at most %d of both", len(l.Files), len(l.Volumes), maxLayers)
	taken := c.paths(path, l)
	c.want(len(l.Entrypoint) > 0 && len(l.Entrypoint) <= maxLayers, path+".entrypoint", "want a file of the image and its arguments")
	if len(l.Entrypoint) > 0 {
		c.want(taken[l.Entrypoint[0]] == isFile, index(path+".entrypoint", 0), "%q is no file of this image", l.Entrypoint[0])
	}
}

// What a path of an image is.
const (
	isFile   = "file"
	isVolume = "volume"
)

// paths checks files and volumes and tells what each path is.
func (c *checker) paths(path string, l rawLayout) map[string]string {
	taken := map[string]string{}
	take := func(at, p, kind string) {
		c.want(names().top.MatchString(p), at, "%q is not a path here: want a slash and one name, such as /driver", p)
		c.want(taken[p] == "", at, "duplicate path %s", p)
		taken[p] = kind
	}
	for i, f := range l.Files {
		at := index(path+".files", i)
		take(at+".path", f.Path, isFile)
		c.want(names().plain.MatchString(f.From), at+".from", "%q is not a file of the drivers folder: want one name, such as launch", f.From)
	}
	for i, v := range l.Volumes {
		take(index(path+".volumes", i), v, isVolume)
	}
	return taken
}
