package artifacts

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
)

// Artifact is what a folder holds, except raw samples and logs.
type Artifact struct {
	Dir      string
	Manifest Manifest
	Plan     []PlanRow
	Records  []Record // in order of time
	Resumes  []Resume
	Probes   []Probe
	Suites   []Suite
	Anchors  []Anchor
	Ladder   []byte // replication.json; nil: nothing is replicated
	Stamped  []int  // journal lines whose hash has a time-stamp in anchors/, ascending
	Sealed   bool
	Head     string // hash of the last journal line
	Lines    int

	asked  []string // hashes of the replication lines before the first run
	size   int64    // bytes of the whole journal lines
	hashes []string // of the journal lines, in order
}

// Load reads and checks an artifact: limits, names, the chain and, when sealed, the hashes of the three files it reads.
// It starts no write and follows no link out of dir. Verify also covers samples and logs.
func Load(dir string) (*Artifact, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("artifact: %w", err)
	}
	defer func() { _ = root.Close() }() // read only
	a, files, err := load(root, dir, false)
	if err != nil {
		return nil, err
	}
	if a.size != int64(len(files[JournalFile])) {
		return nil, atf(JournalFile, a.Lines+1, ErrMalf, "last line has no end: resume the run to repair it")
	}
	if a.Stamped, err = stamped(root); err != nil {
		return nil, err
	}
	return a, a.checkSeal(root, files)
}

// LineHash is the SHA-256 of a journal line, counted from 1, in hex.
func (a *Artifact) LineHash(line int) (string, error) {
	if line < 1 || line > len(a.hashes) {
		return "", atf(JournalFile, line, ErrMalf, "there is no such line, the last is %d", len(a.hashes))
	}
	return a.hashes[line-1], nil
}

// load reads everything up to the last whole journal line. With torn, a last line that is no JSON counts as unfinished too:
// after a power loss a file may have its end and a hole before it.
func load(root *os.Root, dir string, torn bool) (*Artifact, map[string][]byte, error) {
	files := map[string][]byte{}
	for name, limit := range map[string]int64{ManifestFile: MaxManifestBytes, PlanFile: MaxPlanBytes, JournalFile: MaxJournalBytes} {
		b, err := readFile(root, name, limit)
		if err != nil {
			return nil, nil, err
		}
		files[name] = b
	}
	a := &Artifact{Dir: dir, Head: genesis}
	var err error
	if a.Manifest, err = decodeManifest(files[ManifestFile]); err != nil {
		return nil, nil, err
	}
	if a.Plan, err = decodePlan(files[PlanFile]); err != nil {
		return nil, nil, err
	}
	lines, tail, err := split(files[JournalFile])
	if err != nil {
		return nil, nil, err
	}
	a.size = int64(len(files[JournalFile]) - len(tail))
	if n := len(lines) - 1; torn && n >= 0 && !json.Valid(lines[n]) {
		a.size -= int64(len(lines[n])) + 1
		lines = lines[:n]
	}
	if err := a.decodeLines(lines); err != nil {
		return nil, nil, err
	}
	return a, files, a.checkReplication(func(name string, limit int64) ([]byte, error) { return readFile(root, name, limit) })
}

// decoded is one journal line; exactly one of the values is set.
type decoded struct {
	typ, prev, hash string
	value           any
	err             error
}

func (a *Artifact) decodeLines(lines [][]byte) error {
	for i, d := range decodeAll(lines) {
		if d.err == nil && d.prev != a.Head {
			d.err = fmt.Errorf("%w: prev is not the hash of the line before", ErrChain)
		}
		if d.err != nil {
			return at(JournalFile, i+1, d.err)
		}
		a.Head, a.Lines = d.hash, i+1
		a.hashes = append(a.hashes, d.hash)
		switch v := d.value.(type) {
		case *Record:
			a.Records = append(a.Records, *v)
		case *Resume:
			a.Resumes = append(a.Resumes, *v)
		case *Probe:
			a.Probes = append(a.Probes, *v)
		case *Suite:
			a.Suites = append(a.Suites, *v)
		case *Anchor:
			a.Anchors = append(a.Anchors, *v)
		case *Replication:
			if len(a.Records) > 0 {
				v.SHA256 = "" // too late to have been asked
			}
			a.asked = append(a.asked, v.SHA256)
		}
	}
	return a.checkRuns()
}

// decodeAll decodes lines on all CPUs: JSON is the cost of loading.
func decodeAll(lines [][]byte) []decoded {
	out := make([]decoded, len(lines))
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(lines))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(lines); i += workers {
				out[i] = decodeLine(lines[i])
			}
		})
	}
	wg.Wait()
	return out
}

func decodeLine(b []byte) (d decoded) {
	if d.typ, d.prev, d.err = headOf(b); d.err != nil {
		return d
	}
	d.hash = hashOf(b)
	switch d.typ {
	case TypeRun:
		d.value, d.err = decodeRun(b)
		return d
	case TypeResume:
		d.value = new(Resume)
	case TypeProbe:
		d.value = new(Probe)
	case TypeSuite:
		d.value = new(Suite)
	case TypeAnchor:
		d.value = new(Anchor)
	case TypeReplication:
		d.value = new(Replication)
	default:
		d.err = fmt.Errorf("%w: unknown line type %q", ErrMalf, d.typ)
		return d
	}
	if err := json.Unmarshal(b, d.value); err != nil {
		d.err = fmt.Errorf("%w: %w", ErrMalf, err)
	}
	return d
}

func (a *Artifact) checkSeal(root *os.Root, files map[string][]byte) error {
	b, err := readFile(root, SumsFile, MaxSumsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	sums, err := decodeSums(b)
	if err != nil {
		return err
	}
	a.Sealed = true
	seen := 0
	for _, s := range sums {
		if f, ok := files[s.name]; ok {
			seen++
			if hashOf(f) != s.hash {
				return atf(s.name, 0, ErrTampered, "SHA256SUMS has %s", s.hash)
			}
		}
	}
	if seen != len(files) {
		return atf(SumsFile, 0, ErrTampered, "manifest, plan or journal is not listed")
	}
	if a.Manifest.Head != a.Head || a.Manifest.Lines != a.Lines {
		return atf(ManifestFile, 0, ErrTampered, "journal ends elsewhere than the manifest says")
	}
	return nil
}

// ReadManifest reads manifest.json alone.
func ReadManifest(dir string) (Manifest, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Manifest{}, fmt.Errorf("artifact: %w", err)
	}
	defer func() { _ = root.Close() }() // read only
	b, err := readFile(root, ManifestFile, MaxManifestBytes)
	if err != nil {
		return Manifest{}, err
	}
	return decodeManifest(b)
}
