package calibrate

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is a report with a backend of each kind: all of it, no delay, outside its band, and unsupported.
func sample() *Report {
	loss := func(lost int64, inside bool) []Loss {
		return []Loss{
			{PlannedPPM: 10_000, Direction: "to-server", Packets: 1000, Lost: lost, BandLow: 2, BandHigh: 22, Inside: inside},
			{PlannedPPM: 10_000, Direction: "to-client", Packets: 990, Lost: 10, BandLow: 1, BandHigh: 22, Inside: true, QueueDrops: 3},
		}
	}
	cost := func(cpu int64) *Cost {
		return &Cost{800, 32, 1000, []int64{cpu, cpu + 30, cpu + 10}, []float64{3 << 20, 1 << 20, 2 << 20}, []int64{cpu, cpu + 30, cpu + 10}}
	}
	rtt := Spread{500, 10_000_000, 10_100_000, 10_200_000, 11_000_000}
	r := &Report{
		Schema: Schema, Machine: Machine{Kernel: "6.1.0", Arch: "amd64", CPUModel: "a model", CPUs: 2, Emulated: true},
		Options: Options{Packets: 1000, Rounds: 3}, Plain: Plain{RTT: Spread{500, 70_000, 80_000, 90_000, 99_000}, Cost: *cost(1000)},
		Backends: []Backend{
			{Name: "netem", Loss: loss(11, true), Replay: &Replay{Packets: 100}, Batch: &Batch{Unit: "batch", Units: 125, UnitsLost: 7, BandHigh: 16, Inside: true}, Delay: &Delay{5_000_000, 10_000_000, rtt, rtt, 64, 20_000, 0}, Cost: cost(100)},
			{Name: "nft", Loss: loss(99, false), Batch: &Batch{SenderRefused: "no batches"}, NoDelay: "cannot", Cost: cost(50)},
			{Name: "nfqueue", Unsupported: "module not loaded"},
		},
	}
	r.Backends[0].Replay.SameDrops, r.Backends[0].Replay.Lost = true, 9
	return r
}

func TestTables(t *testing.T) {
	for name, write := range map[string]func(*Report, *bytes.Buffer) error{
		"table.txt": func(r *Report, b *bytes.Buffer) error { return r.WriteText(b) },
		"table.md":  func(r *Report, b *bytes.Buffer) error { return r.WriteMarkdown(b) },
	} {
		var got bytes.Buffer
		if err := write(sample(), &got); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestCommittedTables requires that every published table is the one of the published numbers, and that nothing but the link
// lost anything.
func TestCommittedTables(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("..", "..", "docs", "calibration", "*", "calibration.json"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no calibration is committed: %v", err)
	}
	for _, file := range dirs {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Read(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var table bytes.Buffer
		if err := r.WriteMarkdown(&table); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(filepath.Dir(file), "calibration.md"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), table.String()); diff != "" {
			t.Errorf("%s: table is not made of its numbers: %s", file, diff)
		}
		checkLosses(t, r)
	}
}

func checkLosses(t *testing.T, r *Report) {
	t.Helper()
	for _, b := range r.Backends {
		for _, l := range b.Loss {
			if l.BufferDrops != 0 || l.QueueDrops != 0 || l.Ledger >= 0 && l.Ledger != l.Lost {
				t.Errorf("%s at %d ppm %s: link counted %d of %d losses, %d and %d elsewhere", b.Name, l.PlannedPPM, l.Direction, l.Ledger, l.Lost, l.BufferDrops, l.QueueDrops)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	text, err := json.Marshal(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"schema":"transportbench-calibration/1","backends":[{"loss":[{}],"batch":{},"cost":{}}]}`))
	f.Add([]byte(`{"schema":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		var out strings.Builder
		if err := r.WriteMarkdown(&out); err != nil { // must render whatever was read
			t.Error(err)
		}
	})
}

func TestReadIsStrict(t *testing.T) {
	for _, text := range []string{"", "{}", `{"schema":"transportbench-calibration/2"}`, `{"schema":"transportbench-calibration/1","more":1}`, `{"schema":"transportbench-calibration/1"} {}`} {
		if r, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was read as %+v", text, r)
		}
	}
}
