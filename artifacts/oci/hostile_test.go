package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// forgery is a layout folder written by somebody else.
type forgery struct {
	t   *testing.T
	dir string
	m   ocispec.Manifest
}

func forge(t *testing.T) *forgery {
	t.Helper()
	f := &forgery{t: t, dir: t.TempDir()}
	must(t, os.MkdirAll(filepath.Join(f.dir, "blobs", "sha256"), 0o755))
	must(t, os.WriteFile(filepath.Join(f.dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644))
	f.m = ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: ArtifactType,
		Config: ocispec.DescriptorEmptyJSON, Annotations: map[string]string{ocispec.AnnotationTitle: id}}
	return f
}

// blob stores data under the digest that it has, or under the one that it pretends to have.
func (f *forgery) blob(data string, d digest.Digest) string {
	f.t.Helper()
	path := filepath.Join(f.dir, "blobs", "sha256", d.Encoded())
	must(f.t, os.WriteFile(path, []byte(data), 0o644))
	return path
}

func (f *forgery) layer(name, data string) *ocispec.Descriptor {
	f.t.Helper()
	d := digest.FromString(data)
	f.blob(data, d)
	f.m.Layers = append(f.m.Layers, ocispec.Descriptor{MediaType: "text/plain", Digest: d, Size: int64(len(data)), Annotations: map[string]string{ocispec.AnnotationTitle: name}})
	return &f.m.Layers[len(f.m.Layers)-1]
}

// publish writes manifest and index and returns the descriptor that the index holds.
func (f *forgery) publish(change func(*ocispec.Descriptor)) {
	f.t.Helper()
	b, err := json.Marshal(f.m)
	must(f.t, err)
	d := ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, Digest: digest.FromBytes(b), Size: int64(len(b)), Annotations: map[string]string{ocispec.AnnotationRefName: "x"}}
	f.blob(string(b), d.Digest)
	if change != nil {
		change(&d)
	}
	index, err := json.Marshal(ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, Manifests: []ocispec.Descriptor{d}})
	must(f.t, err)
	must(f.t, os.WriteFile(filepath.Join(f.dir, "index.json"), index, 0o644))
}

// refused pulls the forgery and wants an error of one harmless line and no trace of it on disk.
func (f *forgery) refused(want string) {
	f.t.Helper()
	parent := f.t.TempDir()
	_, err := impatient().Pull(context.Background(), layoutRef(f.t, f.dir, "x"), PullOptions{Into: filepath.Join(parent, "in"), Check: check})
	if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\r\x1b") {
		f.t.Fatalf("%v, want %q", err, want)
	}
	if left := contents(f.t, parent); len(left) > 0 {
		f.t.Errorf("left on disk: %v", left)
	}
	if left, err := os.ReadDir(filepath.Join(parent, "in")); err == nil && len(left) > 0 {
		f.t.Errorf("folders left: %v", left)
	}
}

func TestHostileManifests(t *testing.T) {
	named := func(name string) func(*forgery) func(*ocispec.Descriptor) {
		return func(f *forgery) func(*ocispec.Descriptor) { f.layer(name, "x"); return nil }
	}
	sized := func(name string, size int64) func(*forgery) func(*ocispec.Descriptor) {
		return func(f *forgery) func(*ocispec.Descriptor) { f.layer(name, "x").Size = size; return nil }
	}
	index := func(change func(*ocispec.Descriptor)) func(*forgery) func(*ocispec.Descriptor) {
		return func(*forgery) func(*ocispec.Descriptor) { return change }
	}
	for what, c := range map[string]struct {
		make func(*forgery) func(*ocispec.Descriptor)
		want string
	}{
		"parent folder":   {named("../../etc/passwd"), "name not allowed"},
		"absolute path":   {named("/etc/passwd"), "name not allowed"},
		"backslashes":     {named(`..\x`), "name not allowed"},
		"hidden":          {named(".tmp/x"), "name not allowed"},
		"deep":            {named("a/b/c"), "name not allowed"},
		"terminal escape": {named("a\x1b[2Jb"), "name not allowed"},
		"drive":           {named("C:x"), "name not allowed"},
		"no name":         {named(""), "name not allowed"},
		"file and folder": {func(f *forgery) func(*ocispec.Descriptor) { f.layer("a", "1"); f.layer("a/b", "2"); return nil }, "a"},
		"twice":           {func(f *forgery) func(*ocispec.Descriptor) { f.layer("a/b", "1"); f.layer("A/B", "2"); return nil }, "twice"},
		"negative size":   {sized("plan.tsv", -1), "-1 bytes"},
		"huge size":       {sized("plan.tsv", 1<<62), "at most"},
		"huge log":        {sized("logs/x.log", 65<<20), "at most"},
		"huge in all":     {func(f *forgery) func(*ocispec.Descriptor) { many(f, 200, 255<<20); return nil }, "in all"},
		"size too small":  {func(f *forgery) func(*ocispec.Descriptor) { f.layer("plan.tsv", "xy").Size = 1; return nil }, "not a file of 1 bytes"},
		"other hash":      {func(f *forgery) func(*ocispec.Descriptor) { f.layer("plan.tsv", "x").Digest = "sha512:00"; return nil }, "digest"},
		"digest with a path": {func(f *forgery) func(*ocispec.Descriptor) {
			f.layer("plan.tsv", "x").Digest = "sha256:../../x"
			return nil
		}, "digest"},
		"missing blob": {func(f *forgery) func(*ocispec.Descriptor) {
			f.layer("a", "x").Digest = digest.FromString("y")
			return nil
		}, "not there"},
		"foreign type": {func(f *forgery) func(*ocispec.Descriptor) { f.m.ArtifactType = "a\x1bb"; return nil }, `"a?b"`},
		"folder name": {func(f *forgery) func(*ocispec.Descriptor) {
			f.m.Annotations[ocispec.AnnotationTitle] = "../x"
			return nil
		}, "no name for a folder"},
		"oversized manifest": {index(func(d *ocispec.Descriptor) { d.Size = maxManifest + 1 }), "at most"},
		"negative manifest":  {index(func(d *ocispec.Descriptor) { d.Size = -1 }), "at most"},
		"no manifest":        {index(func(d *ocispec.Descriptor) { d.MediaType = ocispec.MediaTypeImageIndex }), "no image manifest"},
		"manifest elsewhere": {index(func(d *ocispec.Descriptor) { d.Digest = "sha256:../../../../etc/passwd" }), "digest"},
		"not an artifact":    {func(f *forgery) func(*ocispec.Descriptor) { f.layer("notes.txt", "hello"); return nil }, "no such file"},
	} {
		t.Run(what, func(t *testing.T) {
			f := forge(t)
			f.publish(c.make(f))
			f.refused(c.want)
		})
	}
}

// many adds n files that claim to be large.
func many(f *forgery, n int, size int64) {
	for i := range n {
		f.layer(fmt.Sprintf("samples/x%d", i), "x").Size = size
	}
}

func TestWrongDigestIsRefused(t *testing.T) {
	f := forge(t)
	d := f.layer("plan.tsv", "good")
	f.blob("evil", d.Digest)
	f.publish(nil)
	f.refused("mismatched digest")

	f = forge(t)
	f.publish(nil)
	b, err := json.Marshal(f.m)
	must(t, err)
	f.blob(strings.Replace(string(b), ArtifactType, strings.ToUpper(ArtifactType), 1), digest.FromBytes(b))
	f.refused("mismatched digest")
}

// A link in the folder leads nowhere outside of it.
func TestLayoutLinksAreNotFollowedOutside(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	must(t, os.WriteFile(secret, []byte("secret"), 0o600))
	f := forge(t)
	path := f.blob("", f.layer("plan.tsv", "secret").Digest)
	must(t, os.Remove(path))
	if err := os.Symlink(secret, path); err != nil {
		t.Skipf("unsupported: symbolic links: %v", err)
	}
	f.publish(nil)
	f.refused("escapes")
}

func TestHugeIndexIsNotRead(t *testing.T) {
	f := forge(t)
	must(t, os.WriteFile(filepath.Join(f.dir, "index.json"), nil, 0o644))
	must(t, os.Truncate(filepath.Join(f.dir, "index.json"), 1<<40))
	f.refused("is over")
}

// What a statement says must be what the artifact says.
func TestLyingStatementIsRefused(t *testing.T) {
	dir, lay := artifact(t, 16), t.TempDir()
	p := push(t, dir, layoutRef(t, lay, "x"), PushOptions{})
	src, err := openLayout(lay)
	must(t, err)
	defer src.close()
	d, err := src.resolve(context.Background(), "x")
	must(t, err)
	s, err := NewStatement(mustManifest(t, dir), d.Digest, []byte("another seal"), Verdict{})
	must(t, err)
	f, err := s.pack(d, "2026-10-12T08:01:00Z")
	must(t, err)
	dst, err := impatient().target(context.Background(), p.Ref)
	must(t, err)
	must(t, (&delivery{dst: dst, to: p.Ref}).copy(context.Background(), f))
	_, err = impatient().Pull(context.Background(), p.Ref, PullOptions{Into: t.TempDir(), Check: check})
	if !errors.Is(err, ErrHostile) || !strings.Contains(err.Error(), "statement") {
		t.Fatalf("%v, want the statement to be refused", err)
	}
}

func TestFailedCheckLeavesNothing(t *testing.T) {
	dir, lay, into := artifact(t, 16), t.TempDir(), t.TempDir()
	push(t, dir, layoutRef(t, lay, "x"), PushOptions{})
	no := errors.New("no")
	_, err := impatient().Pull(context.Background(), layoutRef(t, lay, "x"), PullOptions{Into: into, Check: func(string) error { return no }})
	left, errDir := os.ReadDir(into)
	if !errors.Is(err, no) || errDir != nil || len(left) > 0 {
		t.Errorf("%v, left %v %v", err, left, errDir)
	}
}

func TestPullNeverOverwrites(t *testing.T) {
	dir, lay, out := artifact(t, 16), t.TempDir(), t.TempDir()
	push(t, dir, layoutRef(t, lay, "x"), PushOptions{})
	must(t, os.WriteFile(filepath.Join(out, "mine"), nil, 0o644))
	if _, err := impatient().Pull(context.Background(), layoutRef(t, lay, "x"), PullOptions{Dir: out}); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("%v, want a refusal", err)
	}
}
