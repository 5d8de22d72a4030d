package oci

import (
	"bytes"
	"context"
	"fmt"
	"io"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
)

// Fetch opens a file or a manifest for pushing. What changed since it was packed has another digest and is refused by who receives it.
func (f *folder) Fetch(_ context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	if b, ok := f.memory[d.Digest]; ok {
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	name, ok := f.files[d.Digest]
	if !ok {
		return nil, fmt.Errorf("%s: %w", d.Digest, errdef.ErrNotFound)
	}
	return f.root.Open(name)
}

// Exists says whether this folder holds d.
func (f *folder) Exists(_ context.Context, d ocispec.Descriptor) (bool, error) {
	_, file := f.files[d.Digest]
	_, inMemory := f.memory[d.Digest]
	return file || inMemory, nil
}

// parts are the layers and config of a manifest. Its subject is not among them: it lies at the destination already.
func parts(ctx context.Context, fetcher content.Fetcher, d ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	all, err := content.Successors(ctx, fetcher, d)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	m, err := decodeManifest(ctx, fetcher, d)
	if err != nil || m.Subject == nil {
		return all, err
	}
	return all[1:], nil // Successors puts the subject first
}
