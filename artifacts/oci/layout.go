package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/errdef"
)

// layout reads an OCI layout folder that may come from anywhere: nothing outside the folder is reachable and only index.json, whose size
// is limited, is read before it is asked for.
type layout struct {
	root  *os.Root
	index ocispec.Index
}

func openLayout(dir string) (*layout, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("oci layout: %w", err)
	}
	l := &layout{root: root}
	if err := l.read(); err != nil {
		l.close()
		return nil, fmt.Errorf("oci layout %s: %w", dir, err)
	}
	return l, nil
}

func (l *layout) read() error {
	f, err := l.root.Open(ocispec.ImageIndexFile)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it has no %s", ErrNotFound, ocispec.ImageIndexFile)
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // read only
	b, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return err
	}
	if len(b) > maxManifest {
		return fmt.Errorf("%w: %s is over %d bytes", ErrHostile, ocispec.ImageIndexFile, maxManifest)
	}
	if err := json.Unmarshal(b, &l.index); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrHostile, ocispec.ImageIndexFile, err)
	}
	return nil
}

func (l *layout) close() { _ = l.root.Close() } // read only

func (l *layout) resolve(_ context.Context, name string) (ocispec.Descriptor, error) {
	for _, d := range l.index.Manifests {
		if d.Annotations[ocispec.AnnotationRefName] == name || d.Digest.String() == name {
			return d, nil
		}
	}
	return ocispec.Descriptor{}, fmt.Errorf("%s: %w", name, errdef.ErrNotFound)
}

// Fetch opens a blob of the descriptor's size; the caller checks its digest.
func (l *layout) Fetch(_ context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	if err := d.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("%w: digest %q", ErrHostile, printable(d.Digest.String()))
	}
	f, err := l.root.Open(ocispec.ImageBlobsDir + "/" + d.Digest.Algorithm().String() + "/" + d.Digest.Encoded())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", d.Digest, errdef.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() != d.Size {
		_ = f.Close() // nothing was read
		return nil, fmt.Errorf("%w: blob %s is not a file of %d bytes", ErrHostile, d.Digest, d.Size)
	}
	return f, nil
}

func (l *layout) referrers(ctx context.Context, subject ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	if len(l.index.Manifests) > maxReferrers {
		return nil, fmt.Errorf("%w: more than %d manifests", ErrHostile, maxReferrers)
	}
	var all []ocispec.Descriptor
	seen := map[string]bool{}
	for _, d := range l.index.Manifests {
		if d.MediaType != ocispec.MediaTypeImageManifest || seen[d.Digest.String()] {
			continue
		}
		seen[d.Digest.String()] = true
		m, err := decodeManifest(ctx, l, d)
		if err != nil {
			return nil, err
		}
		if m.Subject != nil && m.Subject.Digest == subject.Digest {
			d.ArtifactType, d.Annotations = m.ArtifactType, m.Annotations
			all = append(all, d)
		}
	}
	return all, nil
}
