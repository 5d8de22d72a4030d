package images

import (
	"context"
	"fmt"
	"path/filepath"

	"transportbench/pipeline/drivers"
)

// Make builds every driver and the static bench from the checkout at root into dir and assembles all images of the file, and those of
// drivers over other cores that lie in dir.
func (s Spec) Make(ctx context.Context, root, dir string, opt drivers.Options, report func(drivers.Built)) ([]Image, error) {
	if err := drivers.BuildWith(ctx, root, dir, opt, report); err != nil {
		return nil, err
	}
	if err := drivers.BuildBench(ctx, root, dir, report); err != nil {
		return nil, err
	}
	return s.Built(dir)
}

// Built assembles all images of the file, and those of drivers over other cores, from the binaries that lie in dir.
func (s Spec) Built(dir string) ([]Image, error) {
	names := s.Names()
	for _, n := range drivers.Unpinned(dir) {
		if _, ok := s.layoutOf(n, false); ok {
			names = append(names, n)
		}
	}
	return s.Build(dir, filepath.Join(dir, drivers.Bench), Options{Names: names})
}

// Rebuild makes the images of have once more in the empty folder scratch, from a copy of nothing but the sources that their binaries were
// recorded with. Equal digests therefore prove two things: that the folder does not matter, and that the record is complete.
func (s Spec) Rebuild(ctx context.Context, root, scratch string, have []Image, opt drivers.Options, report func(drivers.Built)) ([]Image, error) {
	src, bin := filepath.Join(scratch, "sources"), filepath.Join(scratch, "bin")
	var files []drivers.SourceFile
	for _, i := range have {
		for _, l := range i.Layers {
			if l.SizeBytes > 0 && len(l.binary.recipe.Files) == 0 {
				return nil, fmt.Errorf("image %s: no record of the sources of %s; run `bench images build`", i.Name, l.Path)
			}
			files = append(files, l.binary.recipe.Files...)
		}
	}
	if err := drivers.CopySources(root, src, files); err != nil {
		return nil, err
	}
	return s.Make(ctx, src, bin, opt, report)
}
