package oci

import (
	"context"
	"fmt"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// PlanType is the artifactType of a plan that was pushed before its first run.
const PlanType = "application/vnd.transportbench.plan.v1"

// Plan is what is announced before it is carried out.
type Plan struct {
	ID      string // of the artifact to be
	Hash    string
	TSV     []byte // plan.tsv
	Created time.Time
}

// PushPlan publishes a plan, under the tag plan-<id> unless to has one, and returns the reference with its digest. When it arrived is for
// the registry to say: that is what makes it worth something.
func (c *Client) PushPlan(ctx context.Context, to Ref, p Plan) (Ref, error) {
	if to.Tag == "" {
		to.Tag = "plan-" + p.ID
	}
	if to.Digest != "" || !tagForm.MatchString(to.Tag) {
		return to, fmt.Errorf("%s: push a plan under a tag of letters, digits, '.', '_' and '-'; the digest is a result", to)
	}
	layer := ocispec.Descriptor{MediaType: mediaType("plan.tsv"), Digest: digest.FromBytes(p.TSV), Size: int64(len(p.TSV)), Annotations: map[string]string{ocispec.AnnotationTitle: "plan.tsv"}}
	f := &folder{files: map[digest.Digest]string{}, memory: map[digest.Digest][]byte{layer.Digest: p.TSV}}
	err := f.seal([]ocispec.Descriptor{layer}, about{kind: PlanType, annotations: map[string]string{
		ocispec.AnnotationTitle: p.ID, ocispec.AnnotationCreated: p.Created.UTC().Format(time.RFC3339), annotationPlan: p.Hash,
	}})
	if err != nil {
		return to, err
	}
	dst, err := c.target(ctx, to)
	if err != nil {
		return to, explain(to, err)
	}
	to.Digest = f.manifest.Digest.String()
	d := &delivery{dst: dst, to: to}
	if err := d.free(ctx); err != nil {
		return to, explain(to, err)
	}
	if err := d.copy(ctx, f); err != nil {
		return to, explain(to, err)
	}
	return to, explain(to, dst.Tag(ctx, f.manifest, to.Tag))
}
