package images

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"transportbench/pipeline/drivers"
)

// Folder, times and rights of the binaries must not show; a changed byte must.
func TestSameBinariesGiveTheSameBytes(t *testing.T) {
	first := built(t, folder(t, gcc))
	dir := folder(t, gcc)
	age(t, dir)
	for name, again := range built(t, dir) {
		have := first[name]
		if have.ConfigDigest != again.ConfigDigest || have.ManifestDigest != again.ManifestDigest {
			t.Errorf("%s: %s and %s", name, have.ConfigDigest, again.ConfigDigest)
		}
		if !bytes.Equal(archive(t, have), archive(t, again)) {
			t.Errorf("%s: the archives differ", name)
		}
	}
	place(t, dir, "tcp", program(elf.EM_X86_64, "tcq"), gcc)
	changed := built(t, dir)
	if changed["tcp"].ConfigDigest == first["tcp"].ConfigDigest || changed["tcp"].ManifestDigest == first["tcp"].ManifestDigest {
		t.Error("another driver gives the same digests")
	}
	if changed["udp"].ConfigDigest != first["udp"].ConfigDigest {
		t.Error("another driver changes the image of its neighbour")
	}
}

func TestArchiveHoldsWhatTheSpecSays(t *testing.T) {
	dir := folder(t, gcc)
	i := built(t, dir)["tcp"]
	text := archive(t, i)
	img, err := tarball.Image(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	name, err := img.ConfigName()
	if err != nil || name.String() != i.ConfigDigest {
		t.Errorf("config %s, want %s (%v)", name, i.ConfigDigest, err)
	}
	c, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	want := v1.Config{User: "65534:65534", Entrypoint: []string{"/launch"}, WorkingDir: "/", Labels: i.Labels, Volumes: map[string]struct{}{"/results": {}}}
	if d := cmp.Diff(want, c.Config); d != "" || c.Architecture != "amd64" || c.OS != "linux" || c.Created.Unix() != 0 {
		t.Errorf("%s %s %s\n%s", c.Architecture, c.OS, c.Created, d)
	}
	layers, err := img.Layers()
	if err != nil || len(layers) != 3 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	for n, l := range layers {
		if id, err := l.DiffID(); err != nil || id.String() != i.Layers[n].DiffID {
			t.Errorf("layer %d: %s, want %s (%v)", n, id, i.Layers[n].DiffID, err)
		}
	}
	checkLayer(t, layers[0], tar.Header{Name: "launch", Typeflag: tar.TypeReg, Mode: 0o555}, program(elf.EM_X86_64, "launch"))
	checkLayer(t, layers[1], tar.Header{Name: "driver", Typeflag: tar.TypeReg, Mode: 0o555}, program(elf.EM_X86_64, "tcp"))
	checkLayer(t, layers[2], tar.Header{Name: "results/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
}

// checkLayer wants exactly one entry, of nobody and without a time.
func checkLayer(t *testing.T, l v1.Layer, want tar.Header, content []byte) {
	t.Helper()
	r, err := l.Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	in := tar.NewReader(r)
	h, err := in.Next()
	if err != nil {
		t.Fatal(err)
	}
	if h.Name != want.Name || h.Typeflag != want.Typeflag || h.Mode != want.Mode || h.Uid != 65534 || h.Gid != 65534 || h.ModTime.Unix() != 0 || h.Uname+h.Gname != "" {
		t.Errorf("%+v", h)
	}
	if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%s: %d bytes, want %d (%v)", h.Name, len(got), len(content), err)
	}
	if _, err := in.Next(); err != io.EOF {
		t.Errorf("%s: has a second entry (%v)", h.Name, err)
	}
}

func TestReferenceIsTheDigest(t *testing.T) {
	i := built(t, folder(t, gcc))["tcp"]
	if want := "tb/tcp:" + strings.TrimPrefix(i.ConfigDigest, "sha256:")[:12]; i.Reference != want {
		t.Errorf("%s, want %s", i.Reference, want)
	}
}

// The revision is the tree of all sources, and an unknown part leaves it out rather than guess.
func TestRevisionIsTheTreeOfTheSources(t *testing.T) {
	const label = "org.opencontainers.image.revision"
	tree := drivers.TreeID([]drivers.SourceFile{
		{Path: "src/launch.c", ID: strings.Repeat("0", 39) + "6"}, {Path: "src/tcp.c", ID: strings.Repeat("0", 39) + "3"},
	})
	if got := built(t, folder(t, gcc))["tcp"].Labels[label]; got != tree {
		t.Errorf("%q, want %s", got, tree)
	}
	if got, ok := built(t, folder(t, ""))["tcp"].Labels[label]; ok {
		t.Errorf("%q without a record of the sources", got)
	}
	dir := folder(t, gcc)
	write(t, filepath.Join(dir, "tcp"), program(elf.EM_X86_64, "replaced by hand"), 0o755)
	if got, ok := built(t, dir)["tcp"].Labels[label]; ok {
		t.Errorf("%q though the record is that of another binary", got)
	}
}

func TestImagesThatCannotBeMade(t *testing.T) {
	for name, c := range map[string]struct {
		content []byte
		note    string
		want    string
	}{
		"not built":   {nil, "", "image tcp: tcp is not built; run `bench images build`"},
		"unsupported": {nil, "kcp source not available", "kcp source not available"},
		"a script":    {[]byte("#!/bin/sh\n"), "", "image tcp: tcp is no Linux program"},
		"dynamic":     {linked(), "", "image tcp: tcp is linked to libraries of the system"},
		"riscv":       {program(elf.EM_RISCV, ""), "", "is for the machine EM_RISCV"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, gcc)
			if err := os.Remove(filepath.Join(dir, "tcp")); err != nil {
				t.Fatal(err)
			}
			if c.content != nil {
				write(t, filepath.Join(dir, "tcp"), c.content, 0o755)
			}
			if c.note != "" {
				write(t, filepath.Join(dir, "tcp.unsupported"), []byte(c.note+"\n"), 0o644)
			}
			images := built(t, dir)
			i := images["tcp"]
			if !strings.Contains(i.Missing, c.want) || strings.Contains(i.Missing, dir) || i.ConfigDigest != "" {
				t.Errorf("%+v, want %s", i, c.want)
			}
			if err := i.WriteArchive(io.Discard); err == nil {
				t.Error("an archive of nothing was written")
			}
			if images["udp"].Missing != "" || images["holder"].Missing != "" {
				t.Error("a missing driver takes others along")
			}
		})
	}
}

func TestBinariesOfTwoMachinesDoNotMix(t *testing.T) {
	dir := folder(t, gcc)
	place(t, dir, "udp", program(elf.EM_AARCH64, "udp"), gcc)
	_, err := spec(t).Build(dir, filepath.Join(dir, "bench"), Options{})
	if err == nil || !strings.Contains(err.Error(), "image udp: udp: is for arm64, the files before it for amd64") {
		t.Errorf("%v", err)
	}
}

func TestBoundDriversAndOtherCores(t *testing.T) {
	dir := folder(t, gcc)
	place(t, dir, "udp@other-1.0", program(elf.EM_X86_64, "other"), gcc)
	mine := t.TempDir()
	place(t, mine, "mydriver", program(elf.EM_X86_64, "mine"), "")
	all, err := spec(t).Build(dir, filepath.Join(dir, "bench"), Options{
		Names: []string{"mine", "udp@other-1.0", "stranger", "tcp"},
		Bound: map[string]string{"mine": filepath.Join(mine, "mydriver"), "tcp": filepath.Join(mine, "mydriver")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if all[0].Layers[1].DiffID != all[3].Layers[1].DiffID || !strings.HasPrefix(all[0].Reference, "tb/mine:") {
		t.Errorf("bound: %+v", all[0])
	}
	if all[1].Missing != "" || !strings.HasPrefix(all[1].Reference, "tb/udp-other-1.0:") {
		t.Errorf("other core: %+v", all[1])
	}
	if !strings.Contains(all[2].Missing, "images.yaml has no such image") {
		t.Errorf("unknown: %+v", all[2])
	}
}
