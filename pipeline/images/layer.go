package images

import (
	"archive/tar"
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Modes of what is in an image: nobody writes a program, and the owner alone writes results.
const (
	fileMode   = 0o555
	folderMode = 0o755
)

// layer makes a layer of one entry. It is not compressed: a digest of compressed bytes would depend on the compressor's version, and an
// engine keeps layers unpacked anyway.
func (s Spec) layer(h tar.Header, content []byte) (v1.Layer, error) {
	h.Format, h.ModTime, h.Uid, h.Gid = tar.FormatUSTAR, s.created, s.owner, s.owner
	h.Size = int64(len(content))
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	err := w.WriteHeader(&h)
	if err == nil {
		_, err = w.Write(content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("layer %s: %w", h.Name, err)
	}
	return static.NewLayer(out.Bytes(), types.OCIUncompressedLayer), nil
}

func (s Spec) fileLayer(path string, content []byte) (v1.Layer, error) {
	return s.layer(tar.Header{Typeflag: tar.TypeReg, Name: strings.TrimPrefix(path, "/"), Mode: fileMode}, content)
}

func (s Spec) folderLayer(path string) (v1.Layer, error) {
	return s.layer(tar.Header{Typeflag: tar.TypeDir, Name: strings.TrimPrefix(path, "/") + "/", Mode: folderMode}, nil)
}

// history is what `docker history` shows of a layer.
func (s Spec) history(what string) v1.History {
	return v1.History{Created: v1.Time{Time: s.created.In(time.UTC)}, CreatedBy: what}
}
