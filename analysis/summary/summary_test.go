package summary

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

var update = flag.Bool("update", false, "rewrite golden files")

func record(id string, outcome artifacts.Outcome, elapsedNS int64) artifacts.Record {
	part := strings.Split(id, "/")
	return artifacts.Record{
		Type: artifacts.TypeRun, RunID: id, Attempt: 1, Outcome: outcome,
		Profile: matrix.Profile{ID: part[0], Suite: wire.SuiteSingle, PayloadBytes: 800, Connections: 1, Messages: 1000},
		Variant: matrix.Variant{Name: part[1]},
		Client: artifacts.Side{
			Result: &wire.Result{ElapsedNS: elapsedNS, Messages: 1000, Bytes: 800_000, Verified: 1000, Sparse: &wire.Quantiles{N: 300, P50NS: 50_000, P95NS: 60_000, P99NS: 70_000}},
			Exit:   &wire.Exit{MaxRSSKiB: 3584, UserUS: 4000, SystemUS: 6000},
		},
		Server:   artifacts.Side{Exit: &wire.Exit{MaxRSSKiB: 3456, UserUS: 2000, SystemUS: 3000}},
		Counters: &link.Counters{PacketsLo: 4000, BytesLo: 1_800_000, UDP: map[string]int64{"RcvbufErrors": 7}},
	}
}

const profile = "single-800B-1c-l0-d0"

func fixture() (columns, ids []string, records []artifacts.Record) {
	for _, v := range []string{"tcp", "raknet-send", "quic-go"} {
		for _, r := range []string{"r1", "r2", "r3"} {
			ids = append(ids, profile+"/"+v+"/"+r)
		}
	}
	records = []artifacts.Record{
		record(ids[0], artifacts.OutcomeOK, 10_000_000), record(ids[1], artifacts.OutcomeOK, 8_000_000), record(ids[2], artifacts.OutcomeOK, 5_000_000),
		record(ids[3], artifacts.OutcomeUnsupported, 0), record(ids[4], artifacts.OutcomeUnsupported, 0),
		record(ids[6], artifacts.OutcomeFailed, 1), record(ids[7], artifacts.OutcomeOK, 20_000_000),
	}
	records[3].Reason = "driver raknet is not built"
	records[4].Reason = records[3].Reason
	records[5].Reason = "client exit 3: verification failed"
	return []string{"tcp", "raknet-send", "quic-go"}, ids, records
}

func TestBuildCountsEveryPlannedRun(t *testing.T) {
	s, err := Build(fixture())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Totals(), (Totals{Planned: 9, OK: 4, Failed: 1, Unsupported: 2, NotRun: 2}); got != want {
		t.Errorf("totals %+v, want %+v", got, want)
	}
	row := s.Rows[matrix.Cell{Profile: profile, Variant: "tcp"}][Throughput]
	if row.N != 3 || row.Median != 1e8 || row.Min != 8e7 || row.Max != 1.6e8 {
		t.Errorf("throughput of tcp: %+v", row)
	}
	if _, measured := s.Rows[matrix.Cell{Profile: profile, Variant: "raknet-send"}]; measured {
		t.Error("an unsupported cell has numbers")
	}
	if got := s.Rows[matrix.Cell{Profile: profile, Variant: "quic-go"}][Throughput]; got.N != 1 || got.Max != 4e7 {
		t.Errorf("a failed run entered the numbers: %+v", got)
	}
}

func TestBuildUsesTheLastAttempt(t *testing.T) {
	columns, ids, records := fixture()
	again := record(ids[6], artifacts.OutcomeOK, 40_000_000)
	again.Attempt = 2
	s, err := Build(columns, ids, append([]artifacts.Record{again}, records...))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Rows[matrix.Cell{Profile: profile, Variant: "quic-go"}][Throughput]; got.N != 2 || got.Min != 2e7 {
		t.Errorf("attempt 2 did not replace attempt 1: %+v", got)
	}
}

func TestBuildRefusesWhatWasNotPlanned(t *testing.T) {
	columns, ids, records := fixture()
	if _, err := Build(columns, ids[1:], records); err == nil || !strings.Contains(err.Error(), ids[0]) {
		t.Errorf("an unplanned record gave error %v", err)
	}
	if _, err := Build(columns, []string{"nonsense"}, nil); err == nil {
		t.Error("a malformed run id was accepted")
	}
}

func TestTSVGolden(t *testing.T) {
	s, err := Build(fixture())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.WriteTSV(&b); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "summary.tsv")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, b.Bytes()) {
		t.Errorf("summary.tsv changed; rerun with -update after checking:\n%s", b.String())
	}
}

func TestFairnessCountsStarvedConnections(t *testing.T) {
	for name, c := range map[string]struct {
		bursts []int64
		want   float64
		ok     bool
	}{
		"equal":   {[]int64{5, 5, 5, 5}, 1, true},
		"starved": {[]int64{5, 5, 5, 0}, 0.75, true},
		"all":     {[]int64{0, 0}, 0, false},
		"one":     {[]int64{5}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := artifacts.Record{Client: artifacts.Side{Result: &wire.Result{}}}
			for _, b := range c.bursts {
				r.Client.Result.PerConn = append(r.Client.Result.PerConn, wire.ConnResult{BurstNS: b})
			}
			if got, ok := jain(&r); ok != c.ok || math.Abs(got-c.want) > 1e-12 {
				t.Errorf("%v, %t; want %v, %t", got, ok, c.want, c.ok)
			}
		})
	}
}
