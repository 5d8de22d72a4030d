package artifacts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Types of journal lines.
const (
	TypeRun         = "run"
	TypeResume      = "resume"
	TypeProbe       = "probe"
	TypeSuite       = "suite"
	TypeAnchor      = "anchor"
	TypeReplication = "replication"
)

// genesis stands for the hash of the line before the first.
var genesis = strings.Repeat("0", 2*sha256.Size)

// journalFile is what a journal writes to: a file, or in tests one that fails.
type journalFile interface {
	io.Writer
	Sync() error
	Truncate(size int64) error
	Close() error
}

// journal appends chained lines. Each is one write followed by a sync.
type journal struct {
	f      journalFile
	head   string // hash of the last line
	lines  int
	size   int64
	broken error // set when the file could not be brought back to its last whole line
}

// line is anything that carries the chain.
type line interface{ link(prev string) }

func (r *Record) link(prev string) { r.Type, r.Prev = TypeRun, prev }
func (r *Resume) link(prev string) { r.Type, r.Prev = TypeResume, prev }
func (p *Probe) link(prev string)  { p.Type, p.Prev = TypeProbe, prev }
func (s *Suite) link(prev string)  { s.Type, s.Prev = TypeSuite, prev }

func (a *Anchor) link(prev string) { a.Type, a.Prev = TypeAnchor, prev }

// append adds one line. After an error the file ends with the previous line again, so nothing written before is lost.
func (j *journal) append(l line) error {
	if j.broken != nil {
		return j.broken
	}
	l.link(j.head)
	b, err := json.Marshal(l)
	if err != nil {
		return atf(JournalFile, j.lines+1, ErrMalf, "encode: %v", err)
	}
	if len(b) > MaxLineBytes {
		return atf(JournalFile, j.lines+1, ErrLimit, "line of %d bytes", len(b))
	}
	err = writeAll(j.f, append(b, '\n'))
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return j.undo(err)
	}
	j.head, j.lines, j.size = hashOf(b), j.lines+1, j.size+int64(len(b))+1
	return nil
}

func (j *journal) undo(cause error) error {
	cause = at(JournalFile, j.lines+1, fmt.Errorf("append: %w", cause))
	if err := j.f.Truncate(j.size); err != nil {
		j.broken = fmt.Errorf("%w (and the part written could not be taken back: %w; resume will move it to logs/)", cause, err)
		return j.broken
	}
	return cause
}

func hashOf(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// split cuts a journal into lines without their newlines and the bytes after the last newline.
func split(b []byte) (lines [][]byte, tail []byte, err error) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return lines, b, nil
		}
		if i > MaxLineBytes {
			return lines, nil, atf(JournalFile, len(lines)+1, ErrLimit, "line of %d bytes", i)
		}
		if len(lines) == MaxLines {
			return lines, nil, atf(JournalFile, len(lines)+1, ErrLimit, "more than %d lines", MaxLines)
		}
		lines = append(lines, b[:i])
		b = b[i+1:]
	}
	return lines, nil, nil
}

// headOf reads type and prev, which format 1 puts first on every line, without decoding the rest.
func headOf(b []byte) (typ, prev string, err error) {
	rest, ok := bytes.CutPrefix(b, []byte(`{"type":"`))
	if !ok {
		return "", "", fmt.Errorf("%w: line does not begin with its type", ErrMalf)
	}
	i := bytes.IndexByte(rest, '"')
	if i < 0 || i > 16 {
		return "", "", fmt.Errorf("%w: type has no end", ErrMalf)
	}
	typ = string(rest[:i])
	rest, ok = bytes.CutPrefix(rest[i:], []byte(`","prev":"`))
	if !ok || len(rest) < 2*sha256.Size+1 || rest[2*sha256.Size] != '"' {
		return "", "", fmt.Errorf("%w: prev does not follow the type", ErrMalf)
	}
	return typ, string(rest[:2*sha256.Size]), nil
}
