package artifacts

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/pipeline/link"
	"transportbench/transports/wire"
)

// BenchmarkLoad623 loads an artifact of the published size: 623 runs, the connection counts of its profiles.
func BenchmarkLoad623(b *testing.B) {
	const n = 623
	w, err := Create(filepath.Join(tempDir(b), "a"), manifest(n), planTSV(n))
	must(b, err)
	for i := range n {
		must(b, w.journal.append(realistic(record(i, 1, connections(i), 201))))
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

// realistic gives a record what a real one carries besides: about 8 KB.
func realistic(r *Record) *Record {
	args := strings.Fields(strings.Repeat("-connections=1024 -payload=800 ", 10))
	settings := wire.Settings{Workers: 4, GOMAXPROCS: 4, GOGC: "100", Affinity: []int{0, 1, 2, 3}, Nice: 10, NoFile: 16384, API: "send", Policy: "off"}
	for _, s := range []*Side{&r.Server, &r.Client} {
		s.Args, s.Digest = args, strings.Repeat("a", 64)
		s.Hello = &wire.Hello{Type: wire.TypeHello, Contract: 1, PID: 9, Settings: settings}
		s.Done = &wire.Done{Type: wire.TypeDone, Connections: 1024, Messages: 1 << 20, Settings: &settings}
		s.Exit = &wire.Exit{Type: wire.TypeExit, Argv: args, MaxRSSKiB: 4096, Affinity: settings.Affinity}
	}
	counts := map[string]int64{}
	for i := range 12 {
		counts[fmt.Sprintf("TCPCounter%d", i)] = int64(i) << 20
	}
	r.Counters = &link.Counters{UDP: counts, TCP: counts, TCPExt: counts}
	r.Host = json.RawMessage(`{"counters":{"softirqs":[` + strings.Repeat("123456,", 300) + `0]}}`)
	return r
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
