package artifacts

import (
	"path/filepath"
	"testing"
)

// BenchmarkLoad623 loads an artifact of the published size: 623 runs, the connection counts of its profiles.
func BenchmarkLoad623(b *testing.B) {
	const n = 623
	w, err := Create(filepath.Join(tempDir(b), "a"), manifest(n), planTSV(n))
	must(b, err)
	for i := range n {
		must(b, w.journal.append(record(i, 1, connections(i), 201)))
	}
	must(b, w.Seal(w.Manifest()))
	must(b, w.Close())
	b.SetBytes(w.journal.size)
	for b.Loop() {
		if _, err := Load(w.Dir); err != nil {
			b.Fatal(err)
		}
	}
}

// connections follows the published plan: 203 runs of one connection, 252 concurrent, 168 loaded.
func connections(i int) int {
	switch {
	case i < 203:
		return 1
	case i < 455:
		return []int{64, 256, 1024, 2048, 64, 256, 1024, 2048, 64, 1024, 64, 1024}[i%12]
	default:
		return []int{64, 1024}[i%2]
	}
}
