package sandbox_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"transportbench/pipeline/sandbox"
)

// probePath stands for the driver in the docker runtime's table of programs.
const probePath = "/test/probe"

// testImages are made once: a holder and a driver over the same static probe program.
var testImages = sync.OnceValues(func() (map[string]*sandbox.Image, error) {
	dir, err := os.MkdirTemp("", "sandbox-images-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "probe")
	cmd := exec.Command("go", "build", "-trimpath", "-o", path, "./runtimetest/probe")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, errors.New(string(out))
	}
	probe, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	launch, err := os.ReadFile(launchPath)
	if err != nil {
		return nil, err
	}
	holder, err := testImage("holder", file("bench", probe))
	if err != nil {
		return nil, err
	}
	driver, err := testImage("driver", file("launch", launch), file("driver", probe), file("junk", []byte("junk")), results())
	return map[string]*sandbox.Image{"holder": holder, "driver": driver}, err
})

func file(name string, content []byte) func(*tar.Writer) error {
	return func(w *tar.Writer) error {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			return err
		}
		_, err := w.Write(content)
		return err
	}
}

func results() func(*tar.Writer) error {
	return func(w *tar.Writer) error {
		return w.WriteHeader(&tar.Header{Name: "results", Typeflag: tar.TypeDir, Mode: 0o755, Uid: 65534, Gid: 65534})
	}
}

func testImage(what string, parts ...func(*tar.Writer) error) (*sandbox.Image, error) {
	img := empty.Image
	for _, part := range parts {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := errors.Join(part(w), w.Close()); err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
		if err == nil {
			img, err = mutate.AppendLayers(img, layer)
		}
		if err != nil {
			return nil, err
		}
	}
	return described(what, img)
}

func described(what string, img v1.Image) (*sandbox.Image, error) {
	config, err := img.ConfigName()
	if err != nil {
		return nil, err
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	tag, err := name.NewTag("transportbench-test/" + what + ":" + config.Hex[:12])
	if err != nil {
		return nil, err
	}
	out := &sandbox.Image{Name: what, ConfigDigest: config.String(), Archive: func(w io.Writer) error { return tarball.Write(tag, img, w) }}
	for _, d := range cf.RootFS.DiffIDs {
		out.Layers = append(out.Layers, d.String())
	}
	return out, nil
}

func testDockerOptions() (sandbox.DockerOptions, error) {
	images, err := testImages()
	if err != nil {
		return sandbox.DockerOptions{}, err
	}
	return sandbox.DockerOptions{Holder: images["holder"], Limits: sandbox.DefaultLimits(), Programs: map[string]sandbox.Program{
		probePath: {Image: images["driver"], Path: "/driver"}, "/test/junk": {Image: images["driver"], Path: "/junk"},
	}}, nil
}

// newTestDocker skips where no engine can be used, and says why.
func newTestDocker(t testing.TB, change ...func(*sandbox.DockerOptions)) *sandbox.Docker {
	t.Helper()
	if launchPath == "" {
		t.Skip("unsupported: no C compiler with a static libc to build launch")
	}
	if _, err := sandbox.FindEngine(t.Context()); errors.As(err, new(*sandbox.UnsupportedError)) {
		t.Skip("unsupported: ", err)
	}
	opt, err := testDockerOptions()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(&opt)
	}
	d, err := sandbox.NewDocker(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}
