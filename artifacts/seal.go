package artifacts

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// sum is one line of SHA256SUMS.
type sum struct{ hash, name string }

// Seal writes the final manifest and SHA256SUMS over every measured file. After that nothing measured changes.
func (w *Writer) Seal(m Manifest) error {
	m.Lines, m.Head = w.journal.lines, w.journal.head
	if err := w.SetManifest(m); err != nil {
		return err
	}
	sums, err := sumAll(w.root)
	if err != nil {
		return err
	}
	if err := replace(w.root, SumsFile, encodeSums(sums)); err != nil {
		return err
	}
	return at(scratchDir, 0, w.root.RemoveAll(scratchDir))
}

// sumAll hashes every measured file, in order of its name.
func sumAll(root *os.Root) ([]sum, error) {
	names, err := list(root)
	if err != nil {
		return nil, err
	}
	var sums []sum
	for _, n := range names {
		if n == SumsFile || Derived(n) || anchoredLine(n) > 0 {
			continue
		}
		h, err := hashFile(root, n)
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum{h, n})
	}
	return sums, nil
}

// list names every file of an artifact. Anything that the format does not allow for is an error.
func list(root *os.Root) ([]string, error) {
	var names []string
	err := fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return at(p, 0, err)
		case p == "." || d.IsDir() && p == scratchDir:
			return nil
		case d.IsDir():
			return at(p, 0, ValidName(p))
		case strings.HasPrefix(p, scratchDir+"/"):
			return nil
		case !d.Type().IsRegular():
			return atf(p, 0, ErrName, "not a regular file")
		case len(names) == MaxFiles:
			return atf(p, 0, ErrLimit, "more than %d files", MaxFiles)
		}
		names = append(names, p)
		return at(p, 0, ValidName(p))
	})
	slices.Sort(names)
	return names, err
}

func hashFile(root *os.Root, name string) (string, error) {
	f, _, err := open(root, name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // read only
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", at(name, 0, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// encodeSums renders the form that `sha256sum -c` reads.
func encodeSums(sums []sum) []byte {
	var b bytes.Buffer
	for _, s := range sums {
		fmt.Fprintf(&b, "%s  %s\n", s.hash, s.name)
	}
	return b.Bytes()
}

// decodeSums accepts exactly what encodeSums writes, so that no changed byte of the file goes unseen.
func decodeSums(b []byte) ([]sum, error) {
	var sums []sum
	for n := 1; len(b) > 0; n++ {
		l, rest, ok := bytes.Cut(b, []byte("\n"))
		if !ok || len(l) < 2*sha256.Size+3 || string(l[2*sha256.Size:2*sha256.Size+2]) != "  " {
			return nil, atf(SumsFile, n, ErrMalf, "want a SHA-256, two spaces and a name")
		}
		s := sum{string(l[:2*sha256.Size]), string(l[2*sha256.Size+2:])}
		if strings.Trim(s.hash, "0123456789abcdef") != "" {
			return nil, atf(SumsFile, n, ErrMalf, "hash is not lower-case hex")
		}
		if err := ValidName(s.name); err != nil || path.Clean(s.name) != s.name {
			return nil, at(SumsFile, n, errors.Join(ErrName, err))
		}
		if len(sums) > 0 && cmp.Compare(sums[len(sums)-1].name, s.name) >= 0 {
			return nil, atf(SumsFile, n, ErrMalf, "names are not in order")
		}
		sums, b = append(sums, s), rest
	}
	return sums, nil
}
