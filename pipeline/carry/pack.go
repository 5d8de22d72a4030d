// Package carry lets one program file carry others behind its own bytes and unpacks them, each checked by its digest, where it runs.
package carry

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// sumsName is the file that lists the digests of all others, as sha256sum writes them.
const sumsName = "SHA256SUMS"

// Pack writes program and behind it a zip archive of files, by name. Nothing else enters it, so the same input gives the same bytes.
func Pack(w io.Writer, program []byte, files map[string][]byte) error {
	if _, err := w.Write(program); err != nil {
		return fmt.Errorf("carry: %w", err)
	}
	z := zip.NewWriter(w)
	z.SetOffset(int64(len(program)))
	z.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	if err := add(z, sumsName, sums(files)); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := add(z, name, files[name]); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("carry: %w", err)
	}
	return nil
}

// add writes one entry without a time of its own.
func add(z *zip.Writer, name string, content []byte) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil {
		return fmt.Errorf("carry %s: %w", name, err)
	}
	return nil
}

func sums(files map[string][]byte) []byte {
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out = fmt.Appendf(out, "%s  %s\n", digest(files[name]), name)
	}
	return out
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
