package matrix

import (
	"fmt"
	"strings"

	registry "github.com/google/go-containerregistry/pkg/name"
)

// CheckImage accepts a reference to a container image that says what is in it: NAME@sha256:<64 hex digits>. A tag alone can be moved to
// other contents, so a plan that names one could not be repeated.
func CheckImage(ref string) error {
	if _, err := registry.NewDigest(ref); err == nil && strings.Contains(ref, "@sha256:") {
		return nil
	}
	base, digest, _ := strings.Cut(ref, "@")
	if i := strings.LastIndex(base, ":"); i > strings.LastIndex(base, "/") {
		base = base[:i] // the tag
	}
	if digest != "" {
		return fmt.Errorf("image %q: %q is no digest: want %s@sha256:<64 hex digits>", ref, digest, base)
	}
	return fmt.Errorf("image %q has no digest, and what a tag means can change: want %s@sha256:<64 hex digits>", ref, base)
}

// image checks a column's image, if it names one.
func (c *checker) image(path, ref string) {
	if ref == "" {
		return
	}
	if err := CheckImage(ref); err != nil {
		c.fail(path, "%s", err)
	}
}

// driver checks a column's driver and tells an image from a file.
func (c *checker) driver(path, v string) {
	if strings.ContainsAny(v, "/:@") {
		c.fail(path, "%q is not the name of a file; an image has a field of its own, image: NAME@sha256:<64 hex digits>", v)
	}
	c.name(path, v)
}
