package link

import (
	"errors"
	"strings"
	"testing"
	"time"

	"transportbench/pipeline/matrix"
)

func TestChoose(t *testing.T) {
	netem := Capability{Backend: BackendNetem, OK: true, Loss: true, Delay: true}
	noNetem := Capability{Backend: BackendNetem, Reason: "kernel built without sch_netem", Fix: "boot another kernel"}
	nft := Capability{Backend: BackendNFT, OK: true, Loss: true}
	nfq := Capability{Backend: BackendNFQueue, OK: true, Loss: true, Delay: true}
	lossy := matrix.LinkSpec{LossPPM: 10_000}
	slow := matrix.LinkSpec{DelayNS: 5 * time.Millisecond}
	bursts := matrix.LinkSpec{More: matrix.Impairment{Burst: bursty(), JitterNS: 1, RateBitPerS: 8000}}
	copies := matrix.LinkSpec{More: matrix.Impairment{DuplicatePPM: 1}}
	cases := []struct {
		name string
		spec matrix.LinkSpec
		caps []Capability
		want string // backend, or words of the error
	}{
		{"netem first", lossy, []Capability{nfq, nft, netem}, BackendNetem},
		{"nft second", lossy, []Capability{noNetem, nft, nfq}, BackendNFT},
		{"nft cannot delay", slow, []Capability{noNetem, nft, nfq}, BackendNFQueue},
		{"clean link", matrix.LinkSpec{Backend: "auto"}, []Capability{noNetem, nft, nfq}, BackendNFT},
		{"named", matrix.LinkSpec{LossPPM: 1, Backend: BackendNFQueue}, []Capability{netem, nft, nfq}, BackendNFQueue},
		{"named and missing", matrix.LinkSpec{LossPPM: 1, Backend: BackendNetem}, []Capability{noNetem, nft, nfq}, "kernel built without sch_netem"},
		{"bursts pass nft by", bursts, []Capability{noNetem, nft, nfq}, BackendNFQueue},
		{"nft names what it cannot", bursts, []Capability{noNetem, nft}, "nft: cannot lose packets in bursts or vary its delay or limit the rate"},
		{"duplicates need netem", copies, []Capability{netem, nft, nfq}, BackendNetem},
		{"nfqueue names what it cannot", copies, []Capability{noNetem, nft, nfq}, "nfqueue: cannot duplicate packets"},
		{"named and unable", matrix.LinkSpec{DelayNS: 1, Backend: BackendNFT}, []Capability{nft}, "nft: cannot delay packets"},
		{"nothing", slow, []Capability{noNetem, nft}, "delay of 5ms one way not possible here"},
		{"fix is told", slow, []Capability{noNetem, nft}, "boot another kernel"},
		{"unknown name", matrix.LinkSpec{Backend: "dummynet"}, nil, `"dummynet" is unknown`},
		{"reserved topology", matrix.LinkSpec{Topology: "dumbbell"}, []Capability{netem}, `"dumbbell" is reserved`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := Choose(c.spec, c.caps)
			if err == nil && got != c.want {
				t.Fatalf("Choose = %q, want %q", got, c.want)
			}
			var typed *UnsupportedError
			if err != nil && (!errors.As(err, &typed) || !strings.Contains(err.Error(), c.want)) {
				t.Fatalf("Choose error %q (%T), want an UnsupportedError with %q", err, err, c.want)
			}
		})
	}
}
