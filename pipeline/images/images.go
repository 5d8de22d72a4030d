// Package images assembles container images from nothing: a few files, one layer each, the same bytes every time.
package images

import (
	"errors"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Holder is the image whose only program is bench: it makes the link and keeps the namespace.
const Holder = "holder"

// Image is one assembled image, or the reason why there is none.
type Image struct {
	Name           string            `json:"name"`                      // of the driver, or Holder
	Reference      string            `json:"reference,omitempty"`       // <repository>/<name>:<first digits of ConfigDigest>; what the archive is tagged with
	ConfigDigest   string            `json:"config_digest,omitempty"`   // sha256:<hex>; the engine's image id
	ManifestDigest string            `json:"manifest_digest,omitempty"` // sha256:<hex>; what a registry calls it
	Layers         []Layer           `json:"layers,omitempty"`          // in the order of the engine's RootFS.Layers
	Labels         map[string]string `json:"labels,omitempty"`
	Missing        string            `json:"missing,omitempty"` // why there is no image, with the fix; nothing else is set then

	image v1.Image
	arch  string // GOARCH
}

// Layer is one layer: one file or one empty folder.
type Layer struct {
	Path      string `json:"path"`                 // in the container
	DiffID    string `json:"diff_id"`              // sha256:<hex> of the uncompressed tar
	SizeBytes int64  `json:"size_bytes,omitempty"` // of the file; 0 for a folder
	C         bool   `json:"c,omitempty"`          // made by a C compiler
	Toolchain string `json:"toolchain,omitempty"`  // what made the file: comparable under the same one only; empty: unknown, or a folder

	binary binary
}

// WriteArchive writes the image as a docker archive (`docker load`), the same bytes every time. The archive holds this image alone.
func (i Image) WriteArchive(w io.Writer) error {
	if i.image == nil {
		return errors.New(i.Missing)
	}
	ref, err := name.NewTag(i.Reference)
	if err != nil {
		return fmt.Errorf("image %s: %w", i.Name, err)
	}
	if err := tarball.Write(ref, i.image, w); err != nil {
		return fmt.Errorf("image %s: archive: %w", i.Name, err)
	}
	return nil
}
