package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"oras.land/oras-go/v2/errdef"

	"transportbench/artifacts"
)

const (
	concurrency = 4 // blobs under way at once
	maxBarren   = 3 // attempts in a row that may bring nothing across
)

// PushOptions are what a publisher decides.
type PushOptions struct {
	Verdict  Verdict
	AttachTo *Ref   // the artifact becomes a referrer of this one, which must lie in the same repository or layout
	MoveTag  bool   // a tag that names another artifact is moved
	Capsule  string // file with the source capsule, attached as a referrer; empty: none
}

// Pushed is what a push did.
type Pushed struct {
	Ref       Ref    // with tag and digest
	Statement string // digest of the statement's manifest
	Capsule   string // digest of the capsule's manifest; empty: none
	Sent      int    // blobs and manifests that were not there yet
	Present   int    // that were there already
	Bytes     int64  // of all files
}

// Push publishes the artifact in dir under to, attaches its statement and tags it. The manifest goes after its blobs and the tag last, so
// an interrupted push leaves nothing that looks whole, and the next one sends only what is missing.
func (c *Client) Push(ctx context.Context, dir string, to Ref, opt PushOptions) (Pushed, error) {
	p, err := c.push(ctx, dir, to, opt)
	return p, explain(to, err)
}

func (c *Client) push(ctx context.Context, dir string, to Ref, opt PushOptions) (Pushed, error) {
	m, err := artifacts.ReadManifest(dir)
	if err != nil {
		return Pushed{}, err
	}
	if to.Tag == "" {
		to.Tag = m.ID
	}
	if to.Digest != "" || !tagForm.MatchString(to.Tag) {
		return Pushed{}, fmt.Errorf("%s: publish under a tag of letters, digits, '.', '_' and '-'; the digest is a result", to)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Pushed{}, err
	}
	defer func() { _ = root.Close() }() // read only
	dst, err := c.target(ctx, to)
	if err != nil {
		return Pushed{}, err
	}
	subject, err := c.subject(ctx, to, opt.AttachTo, m)
	if err != nil {
		return Pushed{}, err
	}
	names, _, err := artifacts.Files(dir)
	if err != nil {
		return Pushed{}, err
	}
	f, err := pack(root, names, about{ArtifactType, subject, annotations(m, opt.Verdict)})
	if err != nil {
		return Pushed{}, err
	}
	to.Digest = f.manifest.Digest.String()
	return (&delivery{dst: dst, to: to, move: opt.MoveTag}).deliver(ctx, f, m, opt)
}

// target is where a push goes.
func (c *Client) target(ctx context.Context, to Ref) (oras.Target, error) {
	if to.Layout != "" {
		return oci.NewWithContext(ctx, to.Layout)
	}
	return c.repository(to)
}

// subject finds what an artifact refers to: the artifact that it replicates, or its own plan, pushed before its first run.
func (c *Client) subject(ctx context.Context, to Ref, of *Ref, replica artifacts.Manifest) (*ocispec.Descriptor, error) {
	if of == nil {
		return nil, nil
	}
	if of.Place() != to.Place() {
		return nil, fmt.Errorf("attach to %s: an artifact refers only to one in its own repository, which is %s; publish there", of, to.Place())
	}
	src, err := c.open(*of)
	if err != nil {
		return nil, explain(*of, err)
	}
	defer src.close()
	d, m, err := find(ctx, src, *of)
	if err != nil {
		return nil, explain(*of, err)
	}
	if m.ArtifactType != ArtifactType && m.ArtifactType != PlanType {
		return nil, fmt.Errorf("attach to %s: it is no artifact of bench but %q", of, printable(m.ArtifactType))
	}
	if seal, r := sealOf(m), replica.Replicates; m.ArtifactType == ArtifactType && (r == nil || r.SHA256 != seal) {
		return nil, fmt.Errorf("attach to %s: %w: %s does not say that it replicates it; bench replicate makes one that does", of, ErrStranger, replica.ID)
	}
	d = bare(d)
	return &d, nil
}

// sealOf is the SHA-256 of an artifact's SHA256SUMS, by which a replication names its original; empty: it has none.
func sealOf(m *ocispec.Manifest) string {
	for _, l := range m.Layers {
		if l.Annotations[ocispec.AnnotationTitle] == artifacts.SumsFile {
			return l.Digest.Encoded()
		}
	}
	return ""
}

// delivery is one push under way.
type delivery struct {
	dst           oras.Target
	to            Ref
	move          bool
	arrived       sync.Map // digests that are there now
	sent, present atomic.Int64
}

func (d *delivery) deliver(ctx context.Context, f *folder, m artifacts.Manifest, opt PushOptions) (Pushed, error) {
	p := Pushed{Ref: d.to, Bytes: f.bytes}
	if err := d.free(ctx); err != nil {
		return p, err
	}
	if err := d.copy(ctx, f); err != nil {
		return p, err
	}
	seal, err := f.root.ReadFile(artifacts.SumsFile)
	if err != nil {
		return p, err
	}
	st, err := NewStatement(m, f.manifest.Digest, seal, opt.Verdict)
	if err != nil {
		return p, err
	}
	s, err := st.pack(f.manifest, created(m))
	if err != nil {
		return p, err
	}
	if err := d.copy(ctx, s); err != nil {
		return p, err
	}
	p.Statement = s.manifest.Digest.String()
	if p.Capsule, err = d.capsule(ctx, opt.Capsule, f.manifest, created(m)); err != nil {
		return p, err
	}
	p.Sent, p.Present = int(d.sent.Load()), int(d.present.Load())
	return p, d.dst.Tag(ctx, f.manifest, d.to.Tag)
}

// free refuses a tag that names something else.
func (d *delivery) free(ctx context.Context) error {
	there, err := d.dst.Resolve(ctx, d.to.Tag)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return nil
	case err != nil:
		return err
	case there.Digest.String() == d.to.Digest || d.move:
		return nil
	}
	return fmt.Errorf("%s:%s: %w: %s, this one is %s; choose another tag, or move it with --move-tag", d.to.Place(), d.to.Tag, ErrTagTaken, there.Digest, d.to.Digest)
}

// copy sends what is not there yet. A connection that breaks is made anew until maxBarren attempts in a row brought nothing across.
func (d *delivery) copy(ctx context.Context, f *folder) error {
	opt := oras.CopyGraphOptions{
		Concurrency: concurrency, FindSuccessors: parts,
		PostCopy: func(_ context.Context, x ocispec.Descriptor) error {
			d.arrived.Store(x.Digest, true)
			d.sent.Add(1)
			return nil
		},
		OnCopySkipped: func(_ context.Context, x ocispec.Descriptor) error {
			if _, ours := d.arrived.LoadOrStore(x.Digest, true); !ours {
				d.present.Add(1)
			}
			return nil
		},
	}
	for barren := 0; ; barren++ {
		before := d.sent.Load()
		err := oras.CopyGraph(ctx, f, d.dst, f.manifest, opt)
		if d.sent.Load() > before {
			barren = 0
		}
		if err == nil || !broken(err) || barren == maxBarren {
			return err
		}
	}
}

// capsule attaches the archive in file to the artifact.
func (d *delivery) capsule(ctx context.Context, file string, artifact ocispec.Descriptor, created string) (string, error) {
	if file == "" {
		return "", nil
	}
	f, err := packCapsule(file, artifact, created)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.root.Close() }() // read only
	return f.manifest.Digest.String(), d.copy(ctx, f)
}
