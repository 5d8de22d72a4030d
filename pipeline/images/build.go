package images

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"transportbench/pipeline/drivers"
)

// Options of Build.
type Options struct {
	Names []string          // images to make, Holder and drivers, those over other cores (kcp-c@<core>) too; nil: every one of the file
	Bound map[string]string // by name: path of a driver that the user brought; it takes the place of the one in the drivers folder
}

// Build assembles images from the binaries in driversDir and from the static bench at benchPath, always in the same way. One that cannot
// be made, because its driver is not there or is not static, comes back with Missing set.
func (s Spec) Build(driversDir, benchPath string, opt Options) ([]Image, error) {
	names := opt.Names
	if names == nil {
		names = s.Names()
	}
	var all []Image
	for _, n := range names {
		bound, isBound := opt.Bound[n]
		l, ok := s.layoutOf(n, isBound)
		if !ok {
			all = append(all, Image{Name: n, Missing: fmt.Sprintf("image %s: %s has no such image; use --runtime local", n, File)})
			continue
		}
		paths := map[string]string{fromBench: benchPath, fromDriver: filepath.Join(driversDir, n)}
		if isBound {
			paths[fromDriver] = bound
		}
		i, err := s.assemble(n, l, driversDir, paths)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", n, err)
		}
		all = append(all, i)
	}
	return all, nil
}

// missing says why a program cannot be in an image, without a folder of this machine: the text goes into artifacts.
func missing(name, path string, err error) string {
	if reason := drivers.Reason(path); reason != "" {
		return reason
	}
	why := err.Error()
	var at *fs.PathError
	if errors.As(err, &at) {
		why = at.Err.Error()
	}
	if errors.Is(err, os.ErrNotExist) {
		why = "is not built; run `bench images build`"
	}
	return fmt.Sprintf("image %s: %s %s", name, filepath.Base(path), why)
}

// assemble makes one image. paths says where the files are that are not called in driversDir as in the layout.
func (s Spec) assemble(name string, l layout, driversDir string, paths map[string]string) (Image, error) {
	d := draft{spec: s, image: Image{Name: name}}
	for _, f := range l.files {
		path, ok := paths[f.from]
		if !ok {
			path = filepath.Join(driversDir, f.from)
		}
		b, err := readBinary(path)
		if err != nil {
			return Image{Name: name, Missing: missing(name, path, err)}, nil
		}
		if err := d.file(f.path, b); err != nil {
			return Image{}, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	for _, v := range l.volumes {
		if err := d.volume(v); err != nil {
			return Image{}, err
		}
	}
	d.image.Labels = s.labels(d.image, l)
	return s.finish(d.image, l, d.parts)
}

// draft is an image whose layers are being put on top of each other.
type draft struct {
	spec  Spec
	image Image
	parts []mutate.Addendum
}

func (d *draft) file(path string, b binary) error {
	if d.image.arch != "" && d.image.arch != b.arch {
		return fmt.Errorf("is for %s, the files before it for %s; build them all for one", b.arch, d.image.arch)
	}
	d.image.arch = b.arch
	layer, err := d.spec.fileLayer(path, b.content)
	if err != nil {
		return err
	}
	d.parts = append(d.parts, mutate.Addendum{Layer: layer, History: d.spec.history("file " + path)})
	d.image.Layers = append(d.image.Layers, Layer{
		Path: path, SizeBytes: int64(len(b.content)), C: b.info == nil, Toolchain: b.toolchain(), binary: b,
	})
	return nil
}

func (d *draft) volume(path string) error {
	layer, err := d.spec.folderLayer(path)
	if err != nil {
		return err
	}
	d.parts = append(d.parts, mutate.Addendum{Layer: layer, History: d.spec.history("volume " + path)})
	d.image.Layers = append(d.image.Layers, Layer{Path: path})
	return nil
}
