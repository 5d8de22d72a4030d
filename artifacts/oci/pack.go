package oci

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"transportbench/artifacts"
)

// folder is one artifact, or another set of files, as content that can be pushed: files by digest, manifests from memory.
type folder struct {
	root     *os.Root
	files    map[digest.Digest]string
	memory   map[digest.Digest][]byte
	manifest ocispec.Descriptor
	bytes    int64 // of all files
}

// about is what a manifest says besides its layers.
type about struct {
	kind        string // artifactType
	subject     *ocispec.Descriptor
	annotations map[string]string
}

// pack describes the files called names below root. The same files give the same manifest, byte for byte, whoever packs them and when.
func pack(root *os.Root, names []string, a about) (*folder, error) {
	f := &folder{root: root, files: map[digest.Digest]string{}, memory: map[digest.Digest][]byte{}}
	layers := make([]ocispec.Descriptor, 0, len(names))
	for _, n := range names {
		d, err := f.describe(n)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		layers = append(layers, d)
	}
	return f, f.seal(layers, a)
}

func (f *folder) describe(name string) (ocispec.Descriptor, error) {
	r, err := f.root.Open(name)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	defer func() { _ = r.Close() }() // read only
	hash := digest.SHA256.Digester()
	n, err := io.Copy(hash.Hash(), r)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	d := ocispec.Descriptor{MediaType: mediaType(name), Digest: hash.Digest(), Size: n, Annotations: map[string]string{ocispec.AnnotationTitle: name}}
	f.files[d.Digest] = name
	f.bytes += n
	return d, nil
}

// seal makes the manifest. Its config is the empty one of the specification.
func (f *folder) seal(layers []ocispec.Descriptor, a about) error {
	config := ocispec.DescriptorEmptyJSON
	f.memory[config.Digest] = config.Data
	config.Data = nil
	b, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: a.kind,
		Config: config, Layers: layers, Subject: a.subject, Annotations: a.annotations,
	})
	if err != nil {
		return err
	}
	if len(b) > maxManifest {
		return fmt.Errorf("%d files: their manifest of %d bytes is over the %d that registries take; publish fewer runs in one artifact", len(layers), len(b), maxManifest)
	}
	f.manifest = ocispec.Descriptor{MediaType: ocispec.MediaTypeImageManifest, ArtifactType: a.kind, Digest: digest.FromBytes(b), Size: int64(len(b)), Annotations: a.annotations}
	f.memory[f.manifest.Digest] = b
	return nil
}

// annotations repeat what a listing needs; created is the end of the measurement, so that it never varies.
func annotations(m artifacts.Manifest, v Verdict) map[string]string {
	a := map[string]string{
		ocispec.AnnotationTitle:   m.ID,
		ocispec.AnnotationCreated: created(m),
		annotationKind:            m.Kind,
		annotationPlan:            m.PlanHash,
		annotationPosition:        m.Head,
		annotationVerdict:         strconv.Itoa(v.Findings),
	}
	if m.Code.Commit != "" {
		a[ocispec.AnnotationRevision] = m.Code.Commit
	}
	if len(v.Allowed) > 0 {
		a[annotationAllowed] = strings.Join(v.Allowed, ",")
	}
	return a
}

func created(m artifacts.Manifest) string {
	t := m.Started
	if m.Finished != nil {
		t = *m.Finished
	}
	return t.UTC().Truncate(time.Second).Format(time.RFC3339)
}

// mediaType is a table of our own: that of the operating system differs from machine to machine.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".json":
		return "application/json"
	case ".ndjson":
		return "application/x-ndjson"
	case ".tsv":
		return "text/tab-separated-values"
	case ".csv":
		return "text/csv"
	case ".md":
		return "text/markdown"
	case ".html":
		return "text/html"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".zst":
		return "application/zstd"
	case ".tsr":
		return "application/timestamp-reply"
	case ".log", ".txt", ".bench":
		return "text/plain"
	}
	return "application/octet-stream"
}
