package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"transportbench/artifacts"
	"transportbench/containers"
	"transportbench/pipeline/drivers"
	"transportbench/pipeline/images"
	"transportbench/pipeline/matrix"
	"transportbench/pipeline/sandbox"
)

// Values of --runtime.
const (
	runtimeAuto   = "auto"
	runtimeLocal  = "local"
	runtimeDocker = "docker"
)

// boxes are the images of one session, as the runtime and as the manifest want them.
type boxes struct {
	options sandbox.DockerOptions
	refs    map[string]artifacts.ImageRef
	found   []drivers.Driver // those without an image have Missing set
	drift   []string         // how the images differ from the pins: noted, never an error
}

// openRuntime decides where drivers run. auto takes containers for every matrix but quick, which has to work within a minute
// anywhere, if an engine answers and every driver that is here has an image; what kept it from them is said where an engine is.
func (f *runFlags) openRuntime(cmd *cobra.Command, plan *matrix.Plan, dir string) (sandbox.Runtime, *boxes, error) {
	switch {
	case f.runtime == runtimeDocker:
		return f.openDocker(cmd, plan, dir)
	case f.runtime == runtimeAuto && plan.Matrix != "quick":
		if rt, b := f.tryDocker(cmd, plan, dir); rt != nil {
			return rt, b, nil
		}
	}
	rt, err := sandbox.NewLocal(filepath.Join(dir, drivers.Launch))
	if err != nil {
		return nil, nil, fail(ExitEnvironment, err)
	}
	return rt, nil, nil
}

func (f *runFlags) tryDocker(cmd *cobra.Command, plan *matrix.Plan, dir string) (sandbox.Runtime, *boxes) {
	engine, err := sandbox.FindEngine(cmd.Context())
	if err != nil {
		return nil, nil // no engine is the usual case and no news
	}
	note := func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), "bench: "+format+"\n", args...) }
	b, err := f.boxes(cmd.Context(), plan, dir)
	if err == nil {
		err = b.incomplete()
	}
	var rt *sandbox.Docker
	if err == nil {
		rt, err = sandbox.NewDocker(cmd.Context(), b.options)
	}
	if err != nil {
		note("%s %s answers, but the drivers run without containers: %s", engine.Name, engine.Version, oneLine(err.Error()))
		return nil, nil
	}
	note("drivers run in containers of %s %s (--runtime local: without)", engine.Name, engine.Version)
	f.tellStrays(cmd, rt)
	return rt, b
}

func (f *runFlags) openDocker(cmd *cobra.Command, plan *matrix.Plan, dir string) (sandbox.Runtime, *boxes, error) {
	b, err := f.boxes(cmd.Context(), plan, dir)
	if err != nil {
		return nil, nil, err
	}
	rt, err := sandbox.NewDocker(cmd.Context(), b.options)
	if err != nil {
		return nil, nil, fail(ExitEnvironment, err)
	}
	f.tellStrays(cmd, rt)
	return rt, b, nil
}

func (f *runFlags) tellStrays(cmd *cobra.Command, rt *sandbox.Docker) {
	if n := len(rt.Strays().Removed); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "bench: removed %d containers and volumes of a bench that was killed\n", n)
	}
}

// boxes makes the images of every driver that the plan names and of the holder.
func (f *runFlags) boxes(ctx context.Context, plan *matrix.Plan, dir string) (*boxes, error) {
	found, err := f.drivers(ctx, plan, dir)
	if err != nil {
		return nil, err
	}
	spec, err := images.Load(containers.Files)
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	opt := images.Options{Names: []string{images.Holder}, Bound: map[string]string{}}
	for _, d := range found {
		if d.Missing == "" {
			opt.Names = append(opt.Names, d.Name)
		}
		if d.Bound {
			opt.Bound[d.Name] = d.Path
		}
	}
	bench, err := holderProgram(dir)
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	made, err := spec.Build(dir, bench, opt)
	if err != nil {
		return nil, fail(ExitEnvironment, err)
	}
	b := &boxes{found: found, refs: map[string]artifacts.ImageRef{}}
	if pins, err := images.ReadPins(pinsFile); err == nil {
		for _, img := range made {
			if p := pins.Pinned(img); p.Result == images.Differs {
				b.drift = append(b.drift, "image "+img.Name+" differs from the pinned one")
			}
		}
	}
	return b, fail(ExitEnvironment, b.fill(made, filepath.Join(dir, drivers.Launch)))
}

// fill enters the images. floor is the path under which the runner starts launch itself.
func (b *boxes) fill(made []images.Image, floor string) error {
	b.options = sandbox.DockerOptions{Programs: map[string]sandbox.Program{}, Limits: sandbox.DefaultLimits()}
	for _, img := range made {
		if img.Missing != "" && img.Name == images.Holder {
			return errors.New(img.Missing)
		}
		if img.Missing != "" {
			b.missing(img)
			continue
		}
		one := &sandbox.Image{
			Name: img.Reference, ConfigDigest: img.ConfigDigest, ManifestDigest: img.ManifestDigest, Archive: img.WriteArchive,
		}
		for _, l := range img.Layers {
			one.Layers = append(one.Layers, l.DiffID)
		}
		b.refs[img.Name] = artifacts.ImageRef{Config: one.ConfigDigest, Manifest: one.ManifestDigest, Layers: one.Layers}
		if img.Name == images.Holder {
			b.options.Holder = one
			continue
		}
		b.options.Programs[b.path(img.Name)] = sandbox.Program{Image: one, Path: "/driver"}
		b.options.Programs[floor] = sandbox.Program{Image: one, Path: "/launch"} // in every image the same
	}
	return nil
}

func (b *boxes) missing(img images.Image) {
	for i := range b.found {
		if b.found[i].Name == img.Name {
			b.found[i].Missing = img.Missing
		}
	}
}

func (b *boxes) path(name string) string {
	for _, d := range b.found {
		if d.Name == name {
			return d.Path
		}
	}
	return ""
}

// incomplete names the first driver that is here and has no image.
func (b *boxes) incomplete() error {
	for _, d := range b.found {
		if d.Missing != "" && d.SHA256 != "" && b.refs[d.Name].Config == "" {
			return errors.New(d.Missing)
		}
	}
	return nil
}

// describe enters engine, images and limits into the manifest.
func (b *boxes) describe(m *artifacts.Manifest, engine *sandbox.Engine) (err error) {
	c := &artifacts.Containers{Images: b.refs}
	m.Pins.Drift = append(m.Pins.Drift, b.drift...)
	m.Images = map[string]string{}
	for name, ref := range b.refs {
		m.Images[name] = ref.Config
	}
	if c.Engine, err = json.Marshal(engine); err != nil {
		return err
	}
	c.Limits, err = json.Marshal(b.options.Limits)
	m.Containers = c
	return err
}
