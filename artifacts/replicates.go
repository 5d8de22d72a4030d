package artifacts

import "io"

// Replicates says that an artifact repeats another one, and by which rungs it is to be judged.
type Replicates struct {
	ID        string `json:"id"`
	Kind      string `json:"kind"`
	SHA256    string `json:"sha256"`              // of the original's SHA256SUMS; of a reference, of its files
	Reference string `json:"reference,omitempty"` // with digest, where the original came from a registry
	Ladder    string `json:"ladder_sha256"`       // of replication.json
}

// Replication is the journal line that puts the ladder before the first run: what is asked was fixed before anything was answered.
type Replication struct {
	Type   string `json:"type"`
	Prev   string `json:"prev"`
	SHA256 string `json:"sha256"` // of replication.json
}

func (r *Replication) link(prev string) { r.Type, r.Prev = TypeReplication, prev }

// AppendReplication stores replication.json and chains its hash into the journal. The manifest that Create got names the same hash.
func (w *Writer) AppendReplication(ladder []byte) error {
	if int64(len(ladder)) > MaxReplicationBytes {
		return atf(ReplicationFile, 0, ErrLimit, "%d bytes", len(ladder))
	}
	if err := writeNew(w.root, ReplicationFile, func(f io.Writer) error { return writeAll(f, ladder) }); err != nil {
		return err
	}
	return w.journal.append(&Replication{SHA256: hashOf(ladder)})
}

// checkReplication wants file, line and manifest to name one ladder, and the line to stand before the first run.
func (a *Artifact) checkReplication(read func(name string, limit int64) ([]byte, error)) error {
	m := a.Manifest.Replicates
	switch {
	case m == nil && len(a.asked) > 0:
		return atf(JournalFile, 0, ErrMalf, "a replication line, but the manifest replicates nothing")
	case m == nil:
		return nil
	case len(a.asked) == 0 && len(a.Records) == 0:
		return atf(JournalFile, 0, ErrMalf, "ended before it was written what is asked; nothing was measured, remove the folder and start again")
	case len(a.asked) != 1 || a.asked[0] != m.Ladder:
		return atf(JournalFile, 0, ErrMalf, "want one replication line, before the first run, with the hash %.64q of the manifest", m.Ladder)
	}
	b, err := read(ReplicationFile, MaxReplicationBytes)
	if err != nil {
		return err
	}
	if hashOf(b) != m.Ladder {
		return atf(ReplicationFile, 0, ErrTampered, "%s, fixed before the first run as %s", hashOf(b), m.Ladder)
	}
	a.Ladder = b
	return nil
}
