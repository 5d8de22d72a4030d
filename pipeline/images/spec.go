package images

import (
	"errors"
	"io/fs"
)

// File is where the contents of the images stand, in the file system that Load gets.
const File = "images.yaml"

// Spec is images.yaml: what is in each image.
type Spec struct{}

// Options of Build.
type Options struct {
	Names []string          // images to build: Holder and drivers, those over other cores (kcp-c@<core>) too; nil: all of the file
	Bound map[string]string // by name: a driver that the user brought, as a path
}

// Load reads the embedded or a user's images.yaml. An error is one line, "images.yaml:LINE: what is wrong".
func Load(fsys fs.FS) (Spec, error) {
	_, err := fs.ReadFile(fsys, File)
	return Spec{}, err
}

// Build assembles the images from the binaries in driversDir and from the static bench at benchPath. An image whose driver is not
// there comes back with Missing set.
func (s Spec) Build(driversDir, benchPath string, opt Options) ([]Image, error) {
	return nil, errors.ErrUnsupported
}
