package artifacts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// Writer fills one artifact. It is used by one goroutine.
type Writer struct {
	Dir      string
	manifest Manifest
	root     *os.Root
	journal  *journal
	zstd     *zstd.Encoder
}

// Create makes a new artifact with its manifest and plan on disk before the first run. A folder that exists is left alone.
func Create(dir string, m Manifest, plan []byte) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, at(dir, 0, existing(err))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("results folder: %w", err)
	}
	w := &Writer{Dir: dir, manifest: m, root: root}
	if err := w.init(plan); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *Writer) init(plan []byte) error {
	for _, d := range []string{SamplesDir, LogsDir, scratchDir} {
		if err := w.root.Mkdir(d, 0o755); err != nil {
			return at(d, 0, err)
		}
	}
	if err := writeNew(w.root, PlanFile, func(f io.Writer) error { return writeAll(f, plan) }); err != nil {
		return err
	}
	if err := writeNew(w.root, JournalFile, func(io.Writer) error { return nil }); err != nil {
		return err
	}
	if err := w.SetManifest(w.manifest); err != nil {
		return err
	}
	return w.openJournal(&journal{head: genesis})
}

// openJournal opens runs.ndjson for appending behind what j already describes, and locks it.
func (w *Writer) openJournal(j *journal) error {
	f, err := w.root.OpenFile(JournalFile, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return at(JournalFile, 0, err)
	}
	if err := lock(f); err != nil {
		return at(JournalFile, 0, errors.Join(err, f.Close()))
	}
	if w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		return fmt.Errorf("zstd: %w", errors.Join(err, f.Close()))
	}
	j.f, w.journal = f, j
	return nil
}

// Manifest returns the manifest as last written.
func (w *Writer) Manifest() Manifest { return w.manifest }

// SetManifest replaces manifest.json. It is refused once the artifact is sealed.
func (w *Writer) SetManifest(m Manifest) error {
	if _, err := w.root.Lstat(SumsFile); err == nil {
		return at(ManifestFile, 0, ErrSealed)
	}
	b, err := m.encode()
	if err != nil {
		return err
	}
	if err := replace(w.root, ManifestFile, b); err != nil {
		return err
	}
	w.manifest = m
	return nil
}

// Append adds a finished attempt to the journal; it is on disk when Append returns.
func (w *Writer) Append(r *Record) error {
	if err := ValidRunID(r.RunID); err != nil {
		return err
	}
	return w.journal.append(r)
}

// AppendResume opens a further session.
func (w *Writer) AppendResume(r *Resume) error { return w.journal.append(r) }

// AppendProbe adds the probe of a block.
func (w *Writer) AppendProbe(p *Probe) error { return w.journal.append(p) }

// AppendSuite adds the facts of a suite.
func (w *Writer) AppendSuite(s *Suite) error { return w.journal.append(s) }

// Begin notes which run is in progress, so that a resume can name it.
func (w *Writer) Begin(runID string, attempt int) error {
	return at(currentFile, 0, w.root.WriteFile(currentFile, fmt.Appendf(nil, "%s %d\n", runID, attempt), 0o644))
}

// Scratch returns the path on this machine of a raw file of the run in progress, which does not exist yet.
func (w *Writer) Scratch(name string) (string, error) {
	if err := ValidName(name); err != nil {
		return "", err
	}
	rel := scratchDir + "/" + name
	if err := w.root.Remove(rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", at(rel, 0, err)
	}
	return filepath.Join(w.Dir, rel), nil
}

// Log stores what a process wrote to standard error; an empty log makes no file. It returns the name in the artifact.
func (w *Writer) Log(name string, b []byte) (string, error) {
	if len(b) == 0 {
		return "", nil
	}
	if err := ValidName(name); err != nil {
		return "", err
	}
	if len(b) > MaxLogBytes {
		return "", atf(name, 0, ErrLimit, "log of %d bytes", len(b))
	}
	return name, writeNew(w.root, name, func(f io.Writer) error { return writeAll(f, b) })
}

// Samples stores a raw samples file, compressed, and returns the SHA-256 of what was compressed.
func (w *Writer) Samples(name string, raw []byte) (string, error) {
	if err := ValidName(name); err != nil {
		return "", err
	}
	err := writeNew(w.root, name, func(f io.Writer) error { return writeAll(f, w.zstd.EncodeAll(raw, nil)) })
	return hashOf(raw), err
}

// Close gives the folder back without sealing it. Everything appended stays.
func (w *Writer) Close() error {
	var errs []error
	if w.journal != nil && w.journal.f != nil {
		errs = append(errs, w.journal.f.Close())
	}
	if w.zstd != nil {
		errs = append(errs, w.zstd.Close())
	}
	return errors.Join(append(errs, w.root.Close())...)
}
