package artifacts

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Reopened is an artifact that a further session may add to.
type Reopened struct {
	*Writer
	Found  *Artifact // as it was, up to the last whole line
	Resume Resume    // what was repaired; the caller fills the rest and appends it
}

// OpenResume opens an artifact after any kind of end: the chain is checked, an unfinished last line and files that no record names
// go to logs/, a seal is lifted. Nothing is deleted. The caller must append the Resume line before anything else.
func OpenResume(dir string) (*Reopened, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("artifact to resume: %w", err)
	}
	r := &Reopened{Writer: &Writer{Dir: dir, root: root}}
	if err := r.repair(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// repair takes the lock first: a living writer's unfinished line is not torn.
func (r *Reopened) repair() error {
	if err := r.openJournal(&journal{}); err != nil {
		return err
	}
	a, files, err := load(r.root, r.Dir, true)
	if err != nil {
		return err
	}
	if err := a.checkSeal(r.root, files); err != nil {
		return err
	}
	raw, whole := files[JournalFile], a.size
	r.Found, r.manifest = a, a.Manifest
	r.journal.head, r.journal.lines, r.journal.size = a.Head, a.Lines, whole
	r.Resume.Interrupted = r.interrupted()
	for _, step := range []func() error{
		func() error { return r.saveTail(raw[whole:], whole) }, r.unseal, r.saveOrphans, r.clearScratch,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// interrupted returns the run that was in progress: begun, and without a line.
func (r *Reopened) interrupted() string {
	b, err := readFile(r.root, currentFile, MaxLineBytes)
	if err != nil {
		return ""
	}
	id, rest, _ := strings.Cut(strings.TrimSuffix(string(b), "\n"), " ")
	attempt, err := strconv.Atoi(rest)
	if err != nil || ValidRunID(id) != nil {
		return ""
	}
	done := slices.ContainsFunc(r.Found.Records, func(x Record) bool { return x.RunID == id && x.Attempt == attempt })
	if done {
		return ""
	}
	return id
}

// saveTail copies an unfinished line to logs/ before it is cut off.
func (r *Reopened) saveTail(tail []byte, whole int64) error {
	if len(tail) == 0 {
		return nil
	}
	name, err := r.free("torn", ".txt")
	if err != nil {
		return err
	}
	if err := writeNew(r.root, name, func(w io.Writer) error { return writeAll(w, tail) }); err != nil {
		return err
	}
	r.Resume.Torn = name
	if err := r.journal.f.Truncate(whole); err != nil {
		return at(JournalFile, 0, err)
	}
	return at(JournalFile, 0, r.journal.f.Sync())
}

func (r *Reopened) unseal() error {
	if _, err := r.root.Lstat(SumsFile); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	name, err := r.moveToLogs(SumsFile, "unsealed")
	r.Resume.Unsealed = name
	return err
}

// saveOrphans moves samples and logs that no record names: they belong to the attempt that was interrupted.
func (r *Reopened) saveOrphans() error {
	known := map[string]bool{}
	for i := range r.Found.Records {
		for _, n := range r.Found.Records[i].Files() {
			known[n] = true
		}
	}
	names, err := list(r.root)
	if err != nil {
		return err
	}
	for _, n := range names {
		if !heavy(n) || known[n] || kept(n) {
			continue
		}
		to, err := r.moveToLogs(n, "interrupted")
		if err != nil {
			return err
		}
		r.Resume.Orphans = append(r.Resume.Orphans, to)
	}
	return nil
}

// kept reports whether a log was put there by an earlier repair.
func kept(name string) bool {
	for _, p := range []string{"torn", "unsealed", "interrupted"} {
		if strings.HasPrefix(name, LogsDir+"/"+p+"-") {
			return true
		}
	}
	return false
}

func (r *Reopened) clearScratch() error {
	if err := r.root.RemoveAll(scratchDir); err != nil {
		return at(scratchDir, 0, err)
	}
	return at(scratchDir, 0, r.root.Mkdir(scratchDir, 0o755))
}

func (r *Reopened) moveToLogs(name, prefix string) (string, error) {
	to, err := r.free(prefix, "-"+path.Base(name))
	if err != nil {
		return "", err
	}
	if err := r.root.Rename(name, to); err != nil {
		return "", at(name, 0, err)
	}
	return to, syncDir(r.root, LogsDir)
}

// free finds a name in logs/ that is not taken.
func (r *Reopened) free(prefix, suffix string) (string, error) {
	for i := 1; i < MaxFiles; i++ {
		name := fmt.Sprintf("%s/%s-%d%s", LogsDir, prefix, i, suffix)
		if _, err := r.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name, ValidName(name)
		}
	}
	return "", atf(LogsDir, 0, ErrLimit, "no free name %s-N%s", prefix, suffix)
}
