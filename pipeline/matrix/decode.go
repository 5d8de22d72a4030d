package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"transportbench/pipeline/strictyaml"
)

const maxFileBytes = 1 << 20 // of a matrix file

// Read reads at most 1 MiB from r and parses it; file names the source in errors.
func Read(file string, r io.Reader) (*Matrix, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return Parse(file, data)
}

// Parse decodes one matrix, strictly. An error is one line, "FILE:LINE: what is wrong".
func Parse(file string, data []byte) (*Matrix, error) {
	var raw rawMatrix
	yaml, err := strictyaml.Decode(file, data, &raw)
	if err != nil {
		return nil, err
	}
	m, err := source{yaml}.build(&raw)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	m.FileHash = hex.EncodeToString(sum[:])
	return m, nil
}

// source is the file, which can point at the place of a wrong value.
type source struct{ yaml strictyaml.Source }

// errorf reports a wrong value at path, for instance "profiles[3].payload".
func (s source) errorf(path, format string, args ...any) error {
	return s.yaml.Errorf(path, format, args...)
}
