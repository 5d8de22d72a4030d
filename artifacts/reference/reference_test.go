package reference

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const published = "2026-10-12"

func TestPublishedReferenceIsComplete(t *testing.T) {
	r, err := Load(published)
	if err != nil {
		t.Fatal(err)
	}
	bySuite := map[string]int{}
	for _, c := range r.Cells {
		bySuite[c.Suite] += c.N
		bySuite["total"] += c.N
		if r.Manifest.Libraries[c.Variant] == "" {
			t.Errorf("%s: nothing says which library %s was", c.Cell, c.Variant)
		}
	}
	if len(r.Cells) != 203 || bySuite["total"] != 623 {
		t.Errorf("%d cells, %d measurements; want 203 and 623", len(r.Cells), bySuite["total"])
	}
	for suite, n := range r.Manifest.Measurements {
		if bySuite[suite] != n {
			t.Errorf("%s: %d measurements, the manifest has %d", suite, bySuite[suite], n)
		}
	}
	for _, c := range r.Manifest.Columns {
		if strings.HasPrefix(c, "raknet-") != strings.Contains(r.Manifest.Libraries[c], "Rust library") {
			t.Errorf("column %s is labelled %q", c, r.Manifest.Libraries[c])
		}
	}
}

func TestNumbersAreThosePrinted(t *testing.T) {
	r, err := Load(published)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cell, metric     string
		median, min, max float64
	}{
		{"single-800B-1c-l5-d0/tcp", "throughput", 1.03, 1.01, 1.20},
		{"single-800B-1c-l1-d5/raknet-send", "throughput", 3.21, 3.15, 3.28},
		{"sparse-800B-1c-l0-d0/raknet-send", "sparse_p99", 73.1, 46.3, 264.4},
		{"concurrent-800B-2048c-l0-d0/kcp-c", "client_rss", 38.88, 38.75, 38.88},
	} {
		got, ok := r.Find(c.cell)
		if q := got.Metrics[c.metric]; !ok || q.Median != c.median || q.Min != c.min || q.Max != c.max {
			t.Errorf("%s %s: %+v", c.cell, c.metric, q)
		}
	}
	if _, ok := r.Find("single-800B-1c-l5-d0/nobody"); ok {
		t.Error("a column that was never published was found")
	}
	q := r.Cells[0].Metrics["throughput"]
	if m, lo, hi, err := q.Base(); err != nil || m != 155.7*(1<<20) || lo >= m || hi <= m {
		t.Errorf("base units: %v %v %v %v", m, lo, hi, err)
	}
	if _, _, _, err := (Quantity{Unit: "MB/s"}).Base(); err == nil {
		t.Error("MB/s was taken for a known unit")
	}
}

func TestEveryClaimNamesKnownCells(t *testing.T) {
	r, err := Load(published)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Claims.Claims) != 4 || len(r.Claims.Amendments) != 1 {
		t.Fatalf("%d claims, %d amendments", len(r.Claims.Claims), len(r.Claims.Amendments))
	}
	for _, c := range r.Claims.Claims {
		for _, points := range append(c.Orders, c.Equals) {
			for _, p := range points {
				if cell, ok := r.Find(p.Cell); !ok || cell.Metrics[p.Metric].Unit == "" {
					t.Errorf("%s: %s has no %s", c.ID, p.Cell, p.Metric)
				}
			}
		}
	}
}

func TestBenchCarriesTheSameReference(t *testing.T) {
	disk, err := Load(published)
	if err != nil {
		t.Fatal(err)
	}
	carried, err := Published()
	if err != nil || !reflect.DeepEqual(disk.Cells, carried.Cells) || !reflect.DeepEqual(disk.Claims, carried.Claims) {
		t.Errorf("the embedded copy differs: %v", err)
	}
}

func TestLoadRefusesDamage(t *testing.T) {
	for name, damage := range map[string]func(file, text string) string{
		"unknown member": func(f, s string) string { return strings.Replace(s, `"n":3`, `"n":3,"extra":1`, 1) },
		"cell twice":     func(f, s string) string { return edit(f, CellsFile, s, s+firstLine(s)) },
		"misnamed":       func(f, s string) string { return strings.Replace(s, `"variant":"tcp"`, `"variant":"udp"`, 1) },
		"kind":           func(f, s string) string { return strings.Replace(s, `"kind": "reference"`, `"kind": "published"`, 1) },
		"two values":     func(f, s string) string { return edit(f, ClaimsFile, s, s+"{}") },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range []string{"manifest.json", CellsFile, ClaimsFile} {
				b, err := os.ReadFile(filepath.Join(published, f))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, f), []byte(damage(f, string(b))), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := Load(dir); err == nil {
				t.Error("damage was accepted")
			}
		})
	}
}

func edit(file, want, as, changed string) string {
	if file == want {
		return changed
	}
	return as
}

func firstLine(s string) string { return s[:strings.IndexByte(s, '\n')+1] }

func FuzzCells(f *testing.F) {
	b, err := os.ReadFile(filepath.Join(published, CellsFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b[:strings.IndexByte(string(b), '\n')+1])
	f.Add([]byte(`{"cell":"a/b","profile":"a","variant":"b"}`))
	f.Fuzz(func(_ *testing.T, b []byte) { _ = (&Reference{}).decodeCells(b) })
}
