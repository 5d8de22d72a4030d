package summarytest

import (
	"math/rand/v2"
	"time"

	"transportbench/artifacts"
	"transportbench/pipeline/link"
	"transportbench/pipeline/matrix"
	"transportbench/transports/wire"
)

const (
	baseBurstNS = 2_000_000_000 // of a burst at factor 1
	fill        = 0.99          // share of the window in flight
)

// record invents one attempt and the samples file that belongs to it.
func (s Spec) record(run matrix.Run, at time.Time) (*artifacts.Record, []byte) {
	r := &artifacts.Record{
		RunID: run.ID, Index: run.Index, Attempt: 1, Outcome: artifacts.OutcomeOK, Profile: run.Profile, Variant: run.Variant,
		Repetition: run.Repetition, Block: run.Block, Started: at, WallNS: 2_500_000_000, Placement: artifacts.Placement{Label: "reduced"},
	}
	var raw []byte
	if why := run.Unsupported(); why != "" {
		r.Outcome, r.Reason, r.WallNS = artifacts.OutcomeUnsupported, why, 0
	} else {
		rng := s.random(run)
		burst := int64(baseBurstNS / s.factor(run, rng))
		raw = measure(r, rng, burst)
	}
	if s.Change != nil {
		s.Change(r)
	}
	return r, raw
}

func measure(r *artifacts.Record, rng *rand.Rand, burst int64) []byte {
	p := r.Profile
	n := int64(p.Connections)
	all := n * int64(p.Warmup+p.Samples+p.Messages)
	res := &wire.Result{
		Type: wire.TypeResult, ElapsedNS: burst, Messages: n * int64(p.Messages), Verified: all, Bytes: n * int64(p.Messages) * int64(p.PayloadBytes),
		Datagrams: &all,
	}
	ns, kind := samples(p, rng, burst)
	for c := range p.Connections {
		end := burst - int64(c)*burst/100/n
		sum := int64(fill * float64(end) * float64(p.Window))
		if kind == wire.SamplesLoaded {
			sum = total(ns[c*p.Messages : (c+1)*p.Messages])
		}
		res.PerConn = append(res.PerConn, wire.ConnResult{BurstNS: end, RTTSumNS: sum})
	}
	r.OutsideBurstNS, r.WallNS = burst+1_000_000, burst+500_000_000
	hello := &wire.Hello{Type: wire.TypeHello, Contract: 1, Settings: wire.Settings{Workers: 2, Nice: 10, Window: p.Window, RcvBufGranted: 212992, SndBufGranted: 212992}}
	exit := wire.Exit{Type: wire.TypeExit, MaxRSSKiB: 4096 + 128*int64(rng.IntN(3)), UserUS: all * 3, SystemUS: all * 9, Nice: 10, NoFileSoft: 16384, NoFileHard: 16384}
	server := exit
	server.MaxRSSKiB -= 128
	r.Client = artifacts.Side{Hello: hello, Connected: &wire.Connected{Type: wire.TypeConnected, N: p.Connections, SetupNS: 1e6}, Result: res, Exit: &exit}
	r.Server = artifacts.Side{Hello: hello, Done: &wire.Done{Type: wire.TypeDone, Connections: n, Messages: all}, Exit: &server}
	r.Link = &link.State{Backend: p.Link.Backend, MTU: p.Link.MTU, LossPPM: p.Link.LossPPM, DelayNS: p.Link.DelayNS, CongestionControl: "cubic", LossUnit: link.LossUnitDatagram}
	r.Counters = counters(p, all)
	return summarise(r, ns, kind)
}
