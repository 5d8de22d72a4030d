package oci

import (
	"context"
	"encoding/json"
	"fmt"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// source is where published artifacts are read from: a registry or a layout folder. Nothing that it says is trusted.
type source interface {
	content.Fetcher
	// resolve finds the manifest of a tag or digest.
	resolve(ctx context.Context, name string) (ocispec.Descriptor, error)
	// referrers lists what refers to subject, at most maxReferrers.
	referrers(ctx context.Context, subject ocispec.Descriptor) ([]ocispec.Descriptor, error)
	close()
}

func (c *Client) open(ref Ref) (source, error) {
	if ref.Layout != "" {
		return openLayout(ref.Layout)
	}
	repo, err := c.repository(ref)
	if err != nil {
		return nil, err
	}
	return registrySource{repo}, nil
}

// registrySource reads from a registry.
type registrySource struct{ *remote.Repository }

func (r registrySource) resolve(ctx context.Context, name string) (ocispec.Descriptor, error) {
	return r.Resolve(ctx, name)
}

func (r registrySource) referrers(ctx context.Context, subject ocispec.Descriptor) ([]ocispec.Descriptor, error) {
	var all []ocispec.Descriptor
	err := r.Referrers(ctx, subject, "", func(some []ocispec.Descriptor) error {
		if all = append(all, some...); len(all) > maxReferrers {
			return fmt.Errorf("%w: more than %d referrers", ErrHostile, maxReferrers)
		}
		return nil
	})
	return all, err
}

func (registrySource) close() {}

// decodeManifest reads a manifest of at most maxManifest bytes and checks its digest.
func decodeManifest(ctx context.Context, from content.Fetcher, d ocispec.Descriptor) (*ocispec.Manifest, error) {
	if d.Size < 0 || d.Size > maxManifest {
		return nil, fmt.Errorf("%w: manifest of %d bytes, at most %d", ErrHostile, d.Size, maxManifest)
	}
	if d.MediaType != ocispec.MediaTypeImageManifest {
		return nil, fmt.Errorf("%w: %s is no image manifest but %q", ErrHostile, d.Digest, printable(d.MediaType))
	}
	b, err := content.FetchAll(ctx, from, d)
	if err != nil {
		return nil, err
	}
	m := new(ocispec.Manifest)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("%w: manifest %s: %w", ErrHostile, d.Digest, err)
	}
	return m, nil
}
