package oci

import (
	"context"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Referrer is one thing that refers to an artifact: its statement, a capsule, a replication. All words are foreign, made printable.
type Referrer struct {
	Digest   string `json:"digest"`
	Type     string `json:"type"`
	Created  string `json:"created,omitempty"`
	ID       string `json:"id,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Revision string `json:"revision,omitempty"`
	Allowed  string `json:"allowed,omitempty"`
	Bytes    int64  `json:"bytes"` // of its manifest
}

// Referrers lists what refers to ref, oldest first, and ref with its digest.
func (c *Client) Referrers(ctx context.Context, ref Ref) (Ref, []Referrer, error) {
	src, err := c.open(ref)
	if err != nil {
		return ref, nil, explain(ref, err)
	}
	defer src.close()
	d, _, err := find(ctx, src, ref)
	if err != nil {
		return ref, nil, explain(ref, err)
	}
	ref.Digest = d.Digest.String()
	all, err := src.referrers(ctx, d)
	if err != nil {
		return ref, nil, explain(ref, err)
	}
	out := make([]Referrer, 0, len(all))
	for _, r := range all {
		a := r.Annotations
		out = append(out, Referrer{
			Digest: printable(r.Digest.String()), Type: printable(r.ArtifactType), Created: printable(a[ocispec.AnnotationCreated]), ID: printable(a[ocispec.AnnotationTitle]),
			Kind: printable(a[annotationKind]), Revision: printable(a[ocispec.AnnotationRevision]), Allowed: printable(a[annotationAllowed]), Bytes: r.Size,
		})
	}
	slices.SortFunc(out, func(x, y Referrer) int {
		if c := strings.Compare(x.Created, y.Created); c != 0 {
			return c
		}
		return strings.Compare(x.Digest, y.Digest)
	})
	return ref, out, nil
}
