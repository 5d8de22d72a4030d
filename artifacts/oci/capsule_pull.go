package oci

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

const maxCapsuleBytes = 1 << 30

// PullCapsule brings the source capsule that refers to an artifact into the new folder dir and returns the path of its file. Several may
// have been attached by anyone; all that are alike count as one, and different ones are refused: name the one that you trust by its digest.
func (c *Client) PullCapsule(ctx context.Context, ref Ref, dir string) (string, error) {
	src, err := c.open(ref)
	if err != nil {
		return "", explain(ref, err)
	}
	defer src.close()
	d, m, err := find(ctx, src, ref)
	if err != nil {
		return "", explain(ref, err)
	}
	layer, err := capsuleOf(ctx, src, d, m)
	if err != nil {
		return "", explain(ref, err)
	}
	layer.Annotations = map[string]string{ocispec.AnnotationTitle: CapsuleFile}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if err := fetchAll(ctx, src, []ocispec.Descriptor{layer}, dir); err != nil {
		_ = os.RemoveAll(dir) // made a moment ago, holds a part of one file
		return "", explain(ref, err)
	}
	return filepath.Join(dir, CapsuleFile), nil
}

// capsuleOf finds the layer: of the capsule that was asked for, or of those that refer to the artifact.
func capsuleOf(ctx context.Context, src source, d ocispec.Descriptor, m *ocispec.Manifest) (layer ocispec.Descriptor, err error) {
	if m.ArtifactType == CapsuleType {
		return onlyLayer(m)
	}
	all, err := src.referrers(ctx, d)
	if err != nil {
		return layer, err
	}
	for _, r := range all {
		if r.ArtifactType != CapsuleType {
			continue
		}
		m, err := decodeManifest(ctx, src, bare(r))
		if err != nil {
			return layer, err
		}
		l, err := onlyLayer(m)
		if err != nil {
			return layer, err
		}
		if layer.Digest != "" && layer.Digest != l.Digest {
			return layer, fmt.Errorf("%w: several different capsules refer to it; list them with --referrers and pull one by its digest", ErrHostile)
		}
		layer = l
	}
	if layer.Digest == "" {
		return layer, fmt.Errorf("%w: no capsule refers to it", ErrNotFound)
	}
	return layer, nil
}

func onlyLayer(m *ocispec.Manifest) (ocispec.Descriptor, error) {
	if len(m.Layers) != 1 || m.Layers[0].Size < 0 || m.Layers[0].Size > maxCapsuleBytes {
		return ocispec.Descriptor{}, fmt.Errorf("%w: a capsule is one layer of at most %d bytes", ErrHostile, maxCapsuleBytes)
	}
	return m.Layers[0], nil
}
