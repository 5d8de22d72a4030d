package report

import (
	"encoding/json"
	"time"

	"transportbench/analysis/stats"
	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/transports/wire"
)

var noon = time.Date(2026, 10, 12, 12, 0, 0, 0, time.UTC)

func planOf(ids []string) []artifacts.PlanRow {
	rows := make([]artifacts.PlanRow, len(ids))
	for i, id := range ids {
		rows[i] = artifacts.PlanRow{Index: i, RunID: id}
	}
	return rows
}

func fixtureManifest(columns []string) artifacts.Manifest {
	finished, equal := noon.Add(time.Hour), true
	return artifacts.Manifest{
		Format: 1, ID: "quick-20261012T120000Z-norev", Kind: "quick", Matrix: artifacts.MatrixRef{Name: "quick", Seed: "seed"}, PlanHash: "abc",
		Columns: columns, Options: []string{"--matrix=quick"}, Code: artifacts.Code{Commit: "0123456789", Dirty: true, Toolchain: "go1.26.8"},
		Drivers: map[string]artifacts.DriverRef{
			"tcp": {SHA256: "aa", Describe: &wire.Describe{
				Transport: "tcp", TransportVersion: "linux 6.18", Toolchain: "go1.26.8", Encryption: "none",
				Facts: []string{"language: Go, the kernel's TCP", "congestion control and minimum RTO: those of the route"},
			}},
			"raknet": {Missing: "driver raknet is not built"},
		},
		MeasuredOn: json.RawMessage(`{"kernel":"6.18","cpu":{"model":"some CPU","online":2,"governor":"unknown"},"sysctls":{"net.core.rmem_max":"4194304"}}`),
		HostLabel:  "host-1", Runtime: "local", LinkBackends: map[string]string{"single-800B-1c-l5-d0": "nft", "single-800B-1c-l5-d5": "netem"},
		Placement: artifacts.Placement{Label: "reduced"}, RSS: map[string]artifacts.RSS{"single": {FloorKiB: 548, StepKiB: 128, Measured: true}},
		Network: artifacts.NetSnapshot{Equal: &equal}, Started: noon, Finished: &finished,
	}
}

func fixtureProbes() []artifacts.Probe {
	var out []artifacts.Probe
	for i := range 3 {
		out = append(out, artifacts.Probe{Block: i, Started: noon.Add(time.Duration(i) * time.Minute), Results: []artifacts.ProbeResult{
			{Variant: "udp", ElapsedNS: 1e9, Bytes: int64(200+10*i) << 20}, {Variant: "tcp", Reason: "port in use"},
		}})
	}
	return out
}

// withSeries gives a run its quantiles and a connected socket.
func withSeries(r *artifacts.Record) {
	qs := make([]int64, len(stats.FixedP()))
	for i := range qs {
		qs[i] = 10_000 + int64(i*i)
	}
	r.Series = []artifacts.Series{{Kind: wire.SuiteSparse, N: 10_000, Quantiles: qs}}
	settings := wire.Settings{Workers: 2, RcvBufGranted: 131072, SndBufGranted: 46080, CongestionControl: "cubic", MinRTOUS: 200_000}
	r.Client.Hello, r.Server.Hello = &wire.Hello{Settings: wire.Settings{Workers: 2}}, &wire.Hello{Settings: wire.Settings{Workers: 2}}
	r.Client.Connected = &wire.Connected{Settings: &settings}
	r.Link = &link.State{LossUnit: link.LossUnitDatagram}
	r.Counters = &link.Counters{PacketsLo: 2 << 20, BytesLo: 2000 << 20, Directions: []link.Direction{{Name: "to-server", Seen: 1 << 20}}}
}

// disturbed flags a run and leaves one question open.
func disturbed(r *artifacts.Record) {
	r.Flags = []string{"stolen-time"}
	r.Host = json.RawMessage(`{"unknown":["throttled"]}`)
	r.Counters = &link.Counters{UDP: map[string]int64{"RcvbufErrors": 12345}}
}
