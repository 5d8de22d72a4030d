// Package capsule packs everything that the drivers are compiled from into one file, and unpacks it for a build without a network.
package capsule

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Places inside a capsule.
const (
	infoFile    = "capsule.json"
	sourceDir   = "source"   // the tree of the commit
	modulesDir  = "modules"  // a GOPROXY of files: .info, .mod and .zip of the modules that enter the binaries
	archivesDir = "archives" // pinned archives that are not Go modules
)

const format = 1

// Limits of what is unpacked.
const (
	maxFiles = 100_000
	maxBytes = 2 << 30
	maxInfo  = 1 << 20
)

// ErrMalformed says that a file is no capsule, or one that must not be unpacked.
var ErrMalformed = errors.New("not a source capsule")

// Info is capsule.json.
type Info struct {
	Format    int               `json:"format"`
	Commit    string            `json:"commit"`
	Toolchain string            `json:"toolchain"`         // of Go; not in the capsule
	Modules   int               `json:"modules"`           // with their sources
	Archives  map[string]string `json:"archives"`          // SHA-256 by file name
	Missing   []string          `json:"missing,omitempty"` // what could not be packed, and why
}

func (i Info) encode() ([]byte, error) {
	i.Format = format
	b, err := json.MarshalIndent(i, "", "  ")
	return append(b, '\n'), err
}

// readInfo reads capsule.json of an unpacked capsule.
func readInfo(root *os.Root) (Info, error) {
	f, err := root.Open(infoFile)
	if err != nil {
		return Info{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	defer func() { _ = f.Close() }() // read only
	return decodeInfo(f)
}

func decodeInfo(r io.Reader) (i Info, err error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInfo))
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(b, &i); err != nil {
		return i, fmt.Errorf("%w: %s: %w", ErrMalformed, infoFile, err)
	}
	if i.Format != format {
		return i, fmt.Errorf("%w: format %d, this bench reads %d", ErrMalformed, i.Format, format)
	}
	return i, nil
}
