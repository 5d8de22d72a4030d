package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"
	"oras.land/oras-go/v2/content"

	"transportbench/artifacts"
)

// PullOptions are where a copy goes and what must hold before it stays.
type PullOptions struct {
	Dir   string                 // new folder; empty: below Into, by the artifact's id
	Into  string                 // used when Dir is empty
	Check func(dir string) error // judges the copy under its temporary name; an error removes it
}

// Pulled is what a pull brought.
type Pulled struct {
	Dir       string
	Ref       Ref // with digest
	Files     int
	Bytes     int64
	Allowed   string // refusals that the publisher overrode
	Statement *Statement
}

// Pull brings the artifact of ref into a new folder. Everything is written to a temporary folder beside it, which is renamed when all
// digests and opt.Check hold and removed otherwise.
func (c *Client) Pull(ctx context.Context, ref Ref, opt PullOptions) (Pulled, error) {
	src, err := c.open(ref)
	if err != nil {
		return Pulled{}, explain(ref, err)
	}
	defer src.close()
	d, m, err := find(ctx, src, ref)
	if err != nil {
		return Pulled{}, explain(ref, err)
	}
	ref.Digest = d.Digest.String()
	p := Pulled{Ref: ref, Allowed: printable(m.Annotations[annotationAllowed])}
	if p.Bytes, err = checkLayers(m); err != nil {
		return p, explain(ref, err)
	}
	p.Files, p.Dir = len(m.Layers), opt.Dir
	if p.Dir == "" {
		id := m.Annotations[ocispec.AnnotationTitle]
		if artifacts.ValidName(id) != nil || strings.Contains(id, "/") {
			return p, fmt.Errorf("%s: %w: id %q is no name for a folder", ref, ErrHostile, printable(id))
		}
		p.Dir = filepath.Join(opt.Into, id)
	}
	p.Statement, err = bring(ctx, src, d, m, p.Dir, opt.Check)
	return p, explain(ref, err)
}

// bring fills a temporary folder and gives it its name.
func bring(ctx context.Context, src source, d ocispec.Descriptor, m *ocispec.Manifest, dir string, check func(string) error) (*Statement, error) {
	if _, err := os.Lstat(dir); err == nil {
		return nil, fmt.Errorf("%s: %w; choose another folder with --out", dir, artifacts.ErrExists)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".pull-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp) // gone by then when all went well
	if err := os.Chmod(tmp, 0o755); err != nil {
		return nil, err
	}
	if err := fetchAll(ctx, src, m.Layers, tmp); err != nil {
		return nil, err
	}
	if check != nil {
		if err := check(tmp); err != nil {
			return nil, &checkError{err}
		}
	}
	st, err := checkStatement(ctx, src, d, tmp)
	if err != nil {
		return nil, err
	}
	return st, os.Rename(tmp, dir)
}

// find resolves ref to the manifest of an artifact, digest checked.
func find(ctx context.Context, src source, ref Ref) (ocispec.Descriptor, *ocispec.Manifest, error) {
	if ref.name() == "" {
		return ocispec.Descriptor{}, nil, errors.New("name a tag or a digest")
	}
	d, err := src.resolve(ctx, ref.name())
	if err != nil {
		return d, nil, err
	}
	if ref.Digest != "" && d.Digest.String() != ref.Digest {
		return d, nil, fmt.Errorf("%w: asked for %s, got %s", ErrHostile, ref.Digest, printable(d.Digest.String()))
	}
	m, err := decodeManifest(ctx, src, d)
	return d, m, err
}

// checkLayers refuses types, names and sizes before anything is stored, and returns the sum of the sizes.
func checkLayers(m *ocispec.Manifest) (int64, error) {
	if m.ArtifactType != ArtifactType {
		return 0, fmt.Errorf("%w: it is no artifact of bench but %q", ErrHostile, printable(m.ArtifactType))
	}
	seen, total := map[string]bool{}, int64(0)
	for _, l := range m.Layers {
		name := l.Annotations[ocispec.AnnotationTitle]
		if err := artifacts.ValidName(name); err != nil {
			return 0, fmt.Errorf("%w: file %w", ErrHostile, err)
		}
		switch fold := strings.ToLower(name); {
		case seen[fold]:
			return 0, fmt.Errorf("%w: file %q is there twice", ErrHostile, name)
		case l.Size < 0 || l.Size > artifacts.MaxBytes(name):
			return 0, fmt.Errorf("%w: file %q of %d bytes, at most %d", ErrHostile, name, l.Size, artifacts.MaxBytes(name))
		case l.Digest.Validate() != nil || l.Digest.Algorithm() != digest.SHA256:
			return 0, fmt.Errorf("%w: file %q: digest %q", ErrHostile, name, printable(l.Digest.String()))
		default:
			seen[fold] = true
		}
		if total += l.Size; total > maxTotalBytes {
			return 0, fmt.Errorf("%w: more than %d bytes in all", ErrHostile, int64(maxTotalBytes))
		}
	}
	return total, nil
}

// fetchAll stores layers below dir, some at a time; the first that fails stops the others.
func fetchAll(ctx context.Context, src source, layers []ocispec.Descriptor, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // files are closed by then
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrency)
	for _, l := range layers {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error { return fetchOne(ctx, src, l, root) })
	}
	return g.Wait()
}

func fetchOne(ctx context.Context, src source, l ocispec.Descriptor, root *os.Root) (err error) {
	name := l.Annotations[ocispec.AnnotationTitle]
	if d := path.Dir(name); d != "." {
		if err := root.Mkdir(d, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	from, err := src.Fetch(ctx, l)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = from.Close() }() // read to its end, or given up
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	r := content.NewVerifyReader(from, l)
	if _, err := io.Copy(to, r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := r.Verify(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// checkStatement compares the statements about an artifact with the statement that the copy in dir gives. Nobody signed them here, so they
// prove no author; one that says something else is refused. It returns nil where there is none.
func checkStatement(ctx context.Context, src source, d ocispec.Descriptor, dir string) (*Statement, error) {
	all, err := src.referrers(ctx, d)
	if err != nil {
		return nil, err
	}
	var found *Statement
	for _, r := range all {
		if r.ArtifactType != StatementType {
			continue
		}
		s, err := readStatement(ctx, src, r)
		if err != nil {
			return nil, err
		}
		if s == nil {
			continue // another predicate, somebody else's
		}
		if err := s.matches(d.Digest, dir); err != nil {
			return nil, err
		}
		found = s
	}
	return found, nil
}

// readStatement returns nil for a predicate that is not ours.
func readStatement(ctx context.Context, src source, d ocispec.Descriptor) (*Statement, error) {
	m, err := decodeManifest(ctx, src, bare(d))
	if err != nil {
		return nil, err
	}
	if m.Annotations[annotationPred] != PredicateType {
		return nil, nil
	}
	if len(m.Layers) != 1 || m.Layers[0].Size < 0 || m.Layers[0].Size > maxManifest {
		return nil, fmt.Errorf("%w: statement %s is not one layer of at most %d bytes", ErrHostile, d.Digest, maxManifest)
	}
	b, err := content.FetchAll(ctx, src, m.Layers[0])
	if err != nil {
		return nil, err
	}
	s := new(Statement)
	if err := json.Unmarshal(b, s); err != nil {
		return nil, fmt.Errorf("%w: statement %s: %w", ErrHostile, d.Digest, err)
	}
	return s, nil
}

// matches makes the statement again from the artifact in dir; only what its publisher's verify said is taken as it is.
func (s *Statement) matches(d digest.Digest, dir string) error {
	m, err := artifacts.ReadManifest(dir)
	if err != nil {
		return err
	}
	seal, err := os.ReadFile(filepath.Join(dir, artifacts.SumsFile))
	if err != nil {
		return err
	}
	want, err := NewStatement(m, d, seal, s.Predicate.Verified)
	if err != nil {
		return err
	}
	a, errA := json.Marshal(want)
	b, errB := json.Marshal(*s)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if string(a) != string(b) {
		return fmt.Errorf("%w: a statement about it says something else than the artifact", ErrHostile)
	}
	return nil
}
