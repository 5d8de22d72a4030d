package oci

import (
	"fmt"
	"os"
	"path/filepath"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// CapsuleFile is the name of the source capsule's only layer.
const CapsuleFile = "capsule.tar.zst"

// packCapsule describes a capsule that refers to an artifact. The caller closes its root.
func packCapsule(file string, artifact ocispec.Descriptor, created string) (*folder, error) {
	if filepath.Base(file) != CapsuleFile {
		return nil, fmt.Errorf("capsule %s: want a file called %s, as bench capsule makes it", file, CapsuleFile)
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, fmt.Errorf("capsule: %w", err)
	}
	subject := bare(artifact)
	f, err := pack(root, []string{CapsuleFile}, about{CapsuleType, &subject, map[string]string{ocispec.AnnotationCreated: created}})
	if err != nil {
		_ = root.Close() // nothing was written
		return nil, fmt.Errorf("capsule: %w", err)
	}
	return f, nil
}
