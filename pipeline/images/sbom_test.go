package images

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// component finds a part by the path of its names.
func component(list *[]cdx.Component, names ...string) *cdx.Component {
	var found *cdx.Component
	for _, name := range names {
		found = nil
		if list == nil {
			return nil
		}
		for n, c := range *list {
			if c.Name == name {
				found = &(*list)[n]
			}
		}
		if found == nil {
			return nil
		}
		list = found.Components
	}
	return found
}

func sbom(t *testing.T, i Image) (cdx.BOM, []byte) {
	t.Helper()
	var text bytes.Buffer
	if err := i.WriteSBOM(&text); err != nil {
		t.Fatal(err)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text.Bytes()), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	return bom, text.Bytes()
}

func TestSBOMOfCPrograms(t *testing.T) {
	i := built(t, folder(t, gcc))["tcp"]
	bom, text := sbom(t, i)
	if bom.Metadata.Component.Version != i.ConfigDigest || len(*bom.Components) != 2 {
		t.Errorf("%+v", bom.Metadata.Component)
	}
	if c := component(bom.Components, "/launch", "glibc"); c == nil || c.Version != "2.36" {
		t.Errorf("glibc: %+v", c)
	}
	if c := component(bom.Components, "/driver", "src/tcp.c"); c == nil || (*c.Properties)[0].Value != "0000000000000000000000000000000000000003" {
		t.Errorf("source: %+v", c)
	}
	if _, again := sbom(t, built(t, folder(t, gcc))["tcp"]); !bytes.Equal(text, again) {
		t.Error("the list of the same image differs")
	}
	if err := (Image{Name: "tcp", Missing: "why"}).WriteSBOM(&bytes.Buffer{}); err == nil {
		t.Error("a list of nothing was written")
	}
}

// A Go program carries the names and versions of its modules; this one is built for the test, of the standard library alone.
func TestSBOMOfAGoProgram(t *testing.T) {
	dir, src := folder(t, gcc), t.TempDir()
	write(t, filepath.Join(src, "go.mod"), []byte("module example\n"), 0o644)
	write(t, filepath.Join(src, "main.go"), []byte("package main\n\nfunc main() {}\n"), 0o644)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-o", filepath.Join(dir, "tcp"), ".")
	cmd.Dir, cmd.Env = src, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	i := built(t, dir)["tcp"]
	if l := i.Layers[1]; l.C || l.Toolchain == "" || l.Toolchain[:2] != "go" {
		t.Errorf("%+v", l)
	}
	bom, _ := sbom(t, i)
	if c := component(bom.Components, "/driver", "std"); c == nil || "go"+c.Version != i.Layers[1].Toolchain {
		t.Errorf("std: %+v", c)
	}
}
