package images

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"transportbench/pipeline/drivers"
)

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
