package artifacts

import (
	"bytes"
	"errors"
	"testing"
)

var errNoSpace = errors.New("no space left on device")

// fullDisk takes room bytes, then fails like a disk that is full: after a part of the write.
type fullDisk struct {
	bytes.Buffer
	room     int
	noUndo   bool
	failSync bool
}

func (d *fullDisk) Write(b []byte) (int, error) {
	n := min(len(b), d.room)
	d.room -= n
	_, _ = d.Buffer.Write(b[:n])
	if n < len(b) {
		return n, errNoSpace
	}
	return n, nil
}

func (d *fullDisk) Sync() error {
	if d.failSync {
		return errNoSpace
	}
	return nil
}

func (d *fullDisk) Truncate(size int64) error {
	if d.noUndo {
		return errNoSpace
	}
	d.Buffer.Truncate(int(size))
	return nil
}

func (d *fullDisk) Close() error { return nil }

func TestAppendOnAFullDiskLosesNothing(t *testing.T) {
	line1 := &Probe{Block: 1}
	var probe fullDisk
	probe.room = 1 << 20
	ref := &journal{f: &probe, head: genesis}
	must(t, ref.append(line1))
	first := probe.Len()
	for room := first; room < 2*first-1; room++ {
		d := &fullDisk{room: room}
		j := &journal{f: d, head: genesis}
		must(t, j.append(line1))
		if err := j.append(&Probe{Block: 2}); !errors.Is(err, errNoSpace) {
			t.Fatalf("room %d: %v, want no space", room, err)
		}
		if d.Len() != first {
			t.Fatalf("room %d: journal is %d bytes, want the first line's %d", room, d.Len(), first)
		}
		d.room = 1 << 20
		must(t, j.append(&Probe{Block: 3}))
		lines, tail, err := split(d.Bytes())
		must(t, err)
		a := &Artifact{Head: genesis}
		if err := a.decodeLines(lines); err != nil || len(a.Probes) != 2 || len(tail) != 0 {
			t.Fatalf("room %d: %v, %d probes", room, err, len(a.Probes))
		}
	}
}

func TestAppendWhoseSyncFailsIsTakenBack(t *testing.T) {
	d := &fullDisk{room: 1 << 20, failSync: true}
	j := &journal{f: d, head: genesis}
	if err := j.append(&Probe{}); !errors.Is(err, errNoSpace) || d.Len() != 0 {
		t.Fatalf("%v, %d bytes left", err, d.Len())
	}
}

func TestJournalStopsWhenItCannotTakeBack(t *testing.T) {
	d := &fullDisk{room: 10, noUndo: true}
	j := &journal{f: d, head: genesis}
	if err := j.append(&Probe{}); err == nil {
		t.Fatal("no error")
	}
	d.room = 1 << 20
	if err := j.append(&Probe{}); err == nil || d.Len() != 10 {
		t.Fatalf("a line was written behind a torn one: %v", err)
	}
}
