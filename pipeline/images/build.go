package images

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

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

// missing says why a file is not there, without a folder of this machine: the text goes into artifacts.
func missing(name, file string, err error) string {
	why := err.Error()
	var at *fs.PathError
	if errors.As(err, &at) {
		why = at.Err.Error()
	}
	if errors.Is(err, os.ErrNotExist) {
		why = "is not built; run `bench images build`"
	}
	return fmt.Sprintf("image %s: %s %s", name, file, why)
}

// assemble makes one image. paths says where the files are that are not called in driversDir as in the layout.
func (s Spec) assemble(name string, l layout, driversDir string, paths map[string]string) (Image, error) {
	i := Image{Name: name}
	var parts []mutate.Addendum
	for _, f := range l.files {
		path, ok := paths[f.from]
		if !ok {
			path = filepath.Join(driversDir, f.from)
		}
		b, err := readBinary(path)
		if reason := drivers.Reason(path); err != nil && reason != "" {
			return Image{Name: name, Missing: reason}, nil
		}
		if err != nil {
			return Image{Name: name, Missing: missing(name, filepath.Base(path), err)}, nil
		}
		if i.arch != "" && i.arch != b.arch {
			return Image{}, fmt.Errorf("%s is for %s, the files before it for %s; build them all for one", filepath.Base(path), b.arch, i.arch)
		}
		i.arch = b.arch
		layer, err := s.fileLayer(f.path, b.content)
		if err != nil {
			return Image{}, err
		}
		parts = append(parts, mutate.Addendum{Layer: layer, History: s.history("file " + f.path)})
		i.Layers = append(i.Layers, Layer{Path: f.path, SizeBytes: int64(len(b.content)), C: b.info == nil, Toolchain: b.toolchain(), binary: b})
	}
	for _, v := range l.volumes {
		layer, err := s.folderLayer(v)
		if err != nil {
			return Image{}, err
		}
		parts = append(parts, mutate.Addendum{Layer: layer, History: s.history("volume " + v)})
		i.Layers = append(i.Layers, Layer{Path: v})
	}
	i.Labels = s.labels(i, l)
	return s.finish(i, l, parts)
}

// finish joins layers and configuration and computes the digests.
func (s Spec) finish(i Image, l layout, parts []mutate.Addendum) (Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err := mutate.Append(base, parts...)
	if err != nil {
		return Image{}, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return Image{}, err
	}
	if img, err = mutate.ConfigFile(img, s.config(i, l, config.DeepCopy())); err != nil {
		return Image{}, err
	}
	i.image = img
	configName, err := img.ConfigName()
	if err != nil {
		return Image{}, err
	}
	digest, err := img.Digest()
	if err != nil {
		return Image{}, err
	}
	if config, err = img.ConfigFile(); err != nil {
		return Image{}, err
	}
	for n, d := range config.RootFS.DiffIDs {
		i.Layers[n].DiffID = d.String()
	}
	i.ConfigDigest, i.ManifestDigest = configName.String(), digest.String()
	i.Reference = fmt.Sprintf("%s/%s:%s", s.repository, strings.NewReplacer("@", "-", "+", "-").Replace(i.Name), configName.Hex[:tagDigits])
	return i, nil
}

// tagDigits of the config digest make the tag: enough to tell images apart, and never a tag that moves.
const tagDigits = 12

func (s Spec) config(i Image, l layout, c *v1.ConfigFile) *v1.ConfigFile {
	c.Architecture, c.OS, c.Created = i.arch, "linux", v1.Time{Time: s.created}
	user := strconv.Itoa(l.user)
	c.Config = v1.Config{User: user + ":" + user, Entrypoint: slices.Clone(l.entrypoint), WorkingDir: "/", Labels: i.Labels}
	for _, v := range l.volumes {
		if c.Config.Volumes == nil {
			c.Config.Volumes = map[string]struct{}{}
		}
		c.Config.Volumes[v] = struct{}{}
	}
	return c
}

// labels are the annotations that the OCI image specification defines. The revision is the git tree of every source that enters the
// image; without a record of the sources of each binary it is left out.
func (s Spec) labels(i Image, l layout) map[string]string {
	const prefix = "org.opencontainers.image."
	labels := map[string]string{
		prefix + "title": l.title + " " + i.Name, prefix + "source": s.source,
		prefix + "version": s.version, prefix + "licenses": s.licenses,
	}
	if tree := i.tree(); tree != "" {
		labels[prefix+"revision"] = tree
	}
	return labels
}

// tree is the git tree of the sources of all binaries, or empty where one has no record of them.
func (i Image) tree() string {
	var files []drivers.SourceFile
	for _, l := range i.Layers {
		if l.SizeBytes > 0 && len(l.binary.recipe.Files) == 0 {
			return ""
		}
		files = append(files, l.binary.recipe.Files...)
	}
	slices.SortFunc(files, func(a, b drivers.SourceFile) int { return strings.Compare(a.Path, b.Path) })
	return drivers.TreeID(slices.Compact(files))
}
