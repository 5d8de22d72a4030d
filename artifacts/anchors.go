package artifacts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// Anchor is the journal line that puts somebody else's evidence of the plan before the first run: an authority's time-stamp of the plan
// hash, the digest under which the plan was pushed to a registry, or both. The lines after it were written after that. Only the hashes
// count; the rest repeats it for readers.
type Anchor struct {
	Type      string    `json:"type"`
	Prev      string    `json:"prev"`
	File      string    `json:"file,omitempty"`   // the time-stamp; empty: none
	SHA256    string    `json:"sha256,omitempty"` // of the file
	PlanHash  string    `json:"plan_hash"`        // what was stamped or pushed
	Authority string    `json:"authority,omitempty"`
	Time      time.Time `json:"time,omitzero"`    // as the authority says
	Pushed    string    `json:"pushed,omitempty"` // reference with digest of the plan in a registry; empty: none
}

// Stamp is an answer of a time-stamping authority (RFC 3161, DER) that the caller has checked, and for a plan where it was pushed.
type Stamp struct {
	Answer    []byte // nil: no authority was asked
	Pushed    string
	Authority string
	Time      time.Time
}

const maxAnchorBytes = 64 << 10

// AppendAnchor stores the evidence of the plan and chains its hash into the journal, which must be empty.
func (w *Writer) AppendAnchor(s Stamp) error {
	if w.journal.lines > 0 {
		return at(JournalFile, w.journal.lines, errors.New("the plan can be anchored before the first line only"))
	}
	a := &Anchor{PlanHash: w.manifest.PlanHash, Pushed: s.Pushed}
	if s.Answer != nil {
		if err := writeAnchor(w.root, PlanAnchor, s.Answer); err != nil {
			return err
		}
		a.File, a.SHA256, a.Authority, a.Time = PlanAnchor, hashOf(s.Answer), s.Authority, s.Time
	}
	return w.journal.append(a)
}

// AddJournalAnchor stores a time-stamp of the hash of a journal line of the artifact in dir, sealed or not. It returns the file's name.
func AddJournalAnchor(dir string, line int, s Stamp) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", fmt.Errorf("artifact: %w", err)
	}
	defer func() { _ = root.Close() }() // every write is synced
	name := JournalAnchor(line)
	return name, writeAnchor(root, name, s.Answer)
}

// ReadAnchor returns the answer that an anchor file holds.
func ReadAnchor(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("artifact: %w", err)
	}
	defer func() { _ = root.Close() }() // read only
	return readFile(root, name, maxAnchorBytes)
}

func writeAnchor(root *os.Root, name string, answer []byte) error {
	if len(answer) > maxAnchorBytes {
		return atf(name, 0, ErrLimit, "%d bytes", len(answer))
	}
	if err := root.Mkdir(AnchorsDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return at(AnchorsDir, 0, err)
	}
	return writeNew(root, name, func(w io.Writer) error { return writeAll(w, answer) })
}

// stamped lists the journal lines that files in anchors/ stamp.
func stamped(root *os.Root) ([]int, error) {
	entries, err := fs.ReadDir(root.FS(), AnchorsDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, at(AnchorsDir, 0, err)
	}
	var lines []int
	for _, e := range entries {
		if n := anchoredLine(AnchorsDir + "/" + e.Name()); n > 0 {
			lines = append(lines, n)
		}
	}
	slices.Sort(lines)
	return lines, nil
}
