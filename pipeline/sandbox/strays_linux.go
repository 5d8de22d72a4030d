package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Strays is what a search for the containers of dead benches found.
type Strays struct {
	Removed []string // containers and volumes, by name
	Foreign []string // of a bench elsewhere that uses the same engine: left alone
}

// RemoveStrays removes the containers and volumes of benches that are dead. Those of living ones are not touched.
func RemoveStrays(ctx context.Context) (Strays, error) {
	e, err := connect(ctx)
	if err != nil {
		return Strays{}, err
	}
	defer func() { _ = e.close() }()
	me, err := self(os.DirFS("/"))
	if err != nil {
		return Strays{}, err
	}
	return e.removeStrays(ctx, me)
}

func (e *engine) removeStrays(ctx context.Context, me owner) (Strays, error) {
	root := os.DirFS("/")
	return e.removeWhere(ctx, func(labels map[string]string) liveness { return me.judge(root, ownerOf(labels)) })
}

// removeSession removes whatever is left of one runtime.
func (e *engine) removeSession(ctx context.Context, session string) (Strays, error) {
	return e.removeWhere(ctx, func(labels map[string]string) liveness {
		if labels[labelSession] == session {
			return dead
		}
		return alive
	})
}

func (e *engine) removeWhere(ctx context.Context, judge func(labels map[string]string) liveness) (Strays, error) {
	var s Strays
	ours := make(client.Filters).Add("label", labelRole)
	list, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	if err != nil {
		return s, engineError("listing containers", err)
	}
	var holders []int // after the others: podman keeps a container whose namespaces others use
	var errs []error
	remove := func(i int) {
		c := list.Items[i]
		if err := e.remove(ctx, c.ID); err != nil {
			errs = append(errs, err)
			return
		}
		s.Removed = append(s.Removed, fmt.Sprintf("container %s (%s of run %s)", name(c.Names, c.ID), c.Labels[labelRole], c.Labels[labelRun]))
	}
	for i, c := range list.Items {
		switch l := judge(c.Labels); {
		case l == foreign:
			s.Foreign = append(s.Foreign, fmt.Sprintf("container %s (%s)", name(c.Names, c.ID), ownerOf(c.Labels)))
		case l == dead && c.Labels[labelRole] == roleHolder:
			holders = append(holders, i)
		case l == dead:
			remove(i)
		}
	}
	for _, i := range holders {
		remove(i)
	}
	removed, err := e.removeVolumes(ctx, ours, judge)
	s.Removed = append(s.Removed, removed...)
	return s, errors.Join(append(errs, err)...)
}

// removeVolumes finds what a container left that was removed without its volumes.
func (e *engine) removeVolumes(ctx context.Context, ours client.Filters, judge func(map[string]string) liveness) (removed []string, err error) {
	list, err := e.api.VolumeList(ctx, client.VolumeListOptions{Filters: ours})
	if err != nil {
		return nil, engineError("listing volumes", err)
	}
	var errs []error
	for _, v := range list.Items {
		if judge(v.Labels) != dead {
			continue
		}
		_, err := e.api.VolumeRemove(ctx, v.Name, client.VolumeRemoveOptions{Force: true})
		if err != nil && !cerrdefs.IsNotFound(err) {
			errs = append(errs, engineError("removing a volume", err))
			continue
		}
		removed = append(removed, fmt.Sprintf("volume %.12s (run %s)", v.Name, v.Labels[labelRun]))
	}
	return removed, errors.Join(errs...)
}

// remove ends a container and takes its anonymous volumes along. One that is gone or on its way is no error.
func (e *engine) remove(ctx context.Context, id string) error {
	_, err := e.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err == nil || cerrdefs.IsNotFound(err) || cerrdefs.IsConflict(err) {
		return nil
	}
	return engineError("removing a container", err)
}

func name(names []string, id string) string {
	if len(names) > 0 && len(names[0]) > 1 {
		return names[0][1:] // engines put a slash before it
	}
	return id[:min(len(id), 12)]
}

// RemoveImages removes the images of a repository, such as transportbench/ for ours, that no container uses, and returns their names.
func RemoveImages(ctx context.Context, repository string) ([]string, error) {
	e, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = e.close() }()
	list, err := e.api.ImageList(ctx, client.ImageListOptions{Filters: make(client.Filters).Add("reference", repository+"*")})
	if err != nil {
		return nil, engineError("listing images", err)
	}
	var removed []string
	var errs []error
	for _, img := range list.Items {
		for _, tag := range img.RepoTags {
			_, err := e.api.ImageRemove(ctx, tag, client.ImageRemoveOptions{})
			switch {
			case err == nil:
				removed = append(removed, tag)
			case !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err): // conflict: a container uses it
				errs = append(errs, engineError("removing image "+tag, err))
			}
		}
	}
	return removed, errors.Join(errs...)
}
