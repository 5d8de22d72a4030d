package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"
)

// Image is a container image that the runtime puts into the engine where it is missing.
type Image struct {
	Name           string   // for messages and artifacts
	ConfigDigest   string   // sha256:...; what most engines call the image's id
	ManifestDigest string   // sha256:...; what engines with the containerd store call it
	Layers         []string // digests of the uncompressed layers, in order (RootFS.Layers of the engine)

	// Archive writes the image as `docker save` does.
	Archive func(w io.Writer) error
}

// Program is where a driver lies in an image.
type Program struct {
	Image *Image
	Path  string // absolute, in the image
}

// ImageError is an image that the engine holds otherwise than it was made.
type ImageError struct {
	Name string
	ID   string
	What string
}

// Error is one line.
func (e *ImageError) Error() string {
	return fmt.Sprintf("image %s: %s; remove it from the engine (docker image rm -f %s) and start again", e.Name, e.What, e.ID)
}

// loadDeadline bounds the loading of one image: some tens of MB, over a network where the engine is remote. Unlike other requests it ends
// with the caller's context, for a part of an image is no container.
const loadDeadline = 10 * time.Minute

// load returns the engine's id of the image, after putting it there if it is missing. What the engine holds is compared with
// what was made: containers start by id, and an id whose layers are others is refused.
func (e *engine) load(ctx context.Context, img *Image) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loadDeadline)
	defer cancel()
	id, err := e.find(ctx, img)
	if err != nil || id != "" {
		return id, err
	}
	if err := e.send(ctx, img); err != nil {
		return "", engineError("loading image "+img.Name, err)
	}
	if id, err = e.find(ctx, img); err == nil && id == "" {
		err = &ImageError{img.Name, img.ConfigDigest, "the engine took it and does not know its digest " + img.ConfigDigest}
	}
	return id, err
}

// find returns an empty id for an image that is not there.
func (e *engine) find(ctx context.Context, img *Image) (string, error) {
	for _, ref := range []string{img.ConfigDigest, img.ManifestDigest} {
		if ref == "" {
			continue
		}
		got, err := e.api.ImageInspect(ctx, ref)
		if cerrdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", engineError("looking for image "+img.Name, err)
		}
		if !slices.Equal(got.RootFS.Layers, img.Layers) {
			return "", &ImageError{img.Name, ref, fmt.Sprintf("digest mismatch: the engine has layers %s, made were %s", short(got.RootFS.Layers), short(img.Layers))}
		}
		return got.ID, nil
	}
	return "", nil
}

// short shows the first bytes of digests, enough to see which differs.
func short(digests []string) string {
	out := make([]string, len(digests))
	for i, d := range digests {
		out[i] = d[:min(len(d), len("sha256:")+12)]
	}
	return fmt.Sprint(out)
}

// send streams the archive; it is never whole in memory or on this machine's disk.
func (e *engine) send(ctx context.Context, img *Image) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() { // ends when the archive is written or the engine stops reading
		err := img.Archive(w)
		w.CloseWithError(err)
		written <- err
	}()
	res, err := e.api.ImageLoad(ctx, r, client.ImageLoadWithQuiet(true))
	if err == nil {
		_, err = loaded(res)
	}
	_ = r.Close()
	archiveErr := <-written
	if errors.Is(archiveErr, io.ErrClosedPipe) { // the engine stopped reading: its answer says why
		archiveErr = nil
	}
	return errors.Join(err, archiveErr)
}
