package artifacts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Report is the outcome of Verify.
type Report struct {
	Findings []error  // each names its file; empty: intact
	Absent   []string // samples and logs that are not here but whose hash is known
	Checked  int      // files hashed
}

// Verify checks every byte that the seal covers, and that nothing is there that it does not cover. An error says that dir is no artifact;
// what is wrong inside one is a finding.
func Verify(dir string) (Report, error) {
	var rep Report
	root, err := os.OpenRoot(dir)
	if err != nil {
		return rep, fmt.Errorf("artifact: %w", err)
	}
	defer func() { _ = root.Close() }() // read only
	if _, err := Load(dir); err != nil {
		rep.add(err)
	}
	b, err := readFile(root, SumsFile, MaxSumsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		rep.add(at(SumsFile, 0, errors.New("missing: the artifact is not sealed (bench run --resume finishes it)")))
		return rep, nil
	}
	if err != nil {
		return rep, err
	}
	sums, err := decodeSums(b)
	if err != nil {
		rep.add(err)
		return rep, nil
	}
	rep.hashes(root, sums)
	rep.strangers(root, sums)
	return rep, nil
}

func (r *Report) add(err error) {
	if err != nil {
		r.Findings = append(r.Findings, err)
	}
}

func (r *Report) hashes(root *os.Root, sums []sum) {
	for _, s := range sums {
		h, err := hashFile(root, s.name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && heavy(s.name):
			r.Absent = append(r.Absent, s.name)
			continue
		case err != nil:
			r.add(err)
			continue
		case h != s.hash:
			r.add(atf(s.name, 0, ErrTampered, "%s, sealed as %s", h, s.hash))
		}
		r.Checked++
	}
}

// strangers finds files that were added after the seal, and lines taken out of SHA256SUMS.
func (r *Report) strangers(root *os.Root, sums []sum) {
	names, err := list(root)
	r.add(err)
	known := make(map[string]bool, len(sums))
	for _, s := range sums {
		known[s.name] = true
	}
	for _, n := range names {
		if n != SumsFile && !Derived(n) && anchoredLine(n) == 0 && !known[n] {
			r.add(atf(n, 0, ErrTampered, "not listed in %s", SumsFile))
		}
	}
}
