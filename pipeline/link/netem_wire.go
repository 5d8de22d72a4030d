package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mdlayher/netlink"

	"transportbench/pipeline/matrix"
)

// Attributes of include/uapi/linux/pkt_sched.h, TCA_NETEM_* and NETEM_LOSS_*.
const (
	netemCorr      = 1
	netemReorder   = 3
	netemCorrupt   = 4
	netemLoss      = 5
	netemRate      = 6
	netemECN       = 7
	netemRate64    = 8
	netemLatency64 = 10
	netemJitter64  = 11
	netemSlot      = 12
	netemLossGE    = 2
)

const (
	netemQoptBytes  = 24 // struct tc_netem_qopt: latency, limit, loss, gap, duplicate, jitter
	netemGEBytes    = 16 // struct tc_netem_gemodel: p, r, h, k1
	netemRateBytes  = 16 // struct tc_netem_rate: rate, packet overhead, cell size, cell overhead
	bitsPerByte     = 8
	firstOfReorders = 1 // gap of 1: every packet may be the one that leaves at once
)

// netemTick is the kernel's unit for the old fields of netem: 2^6 ns, PSCHED_SHIFT of include/net/pkt_sched.h.
const netemTick = 64 * time.Nanosecond

// netemOptions are the settings of one netem qdisc. Shares are of 2^32, see dropThreshold.
type netemOptions struct {
	latency, jitter time.Duration
	limit           uint32
	loss, duplicate uint32
	gap, reorder    uint32
	rateBytesPerS   uint64
	burst           *netemBurst
	odd             string // the first setting that nobody here makes, when read back
}

// netemBurst is struct tc_netem_gemodel. In the good state a packet is lost with k1, in the bad one unless h lets it pass;
// the chain turns bad with p and good with r (net/sched/sch_netem.c, loss_gilb_ell).
type netemBurst struct{ p, r, h, k1 uint32 }

// newNetemOptions are what a plan asks of netem, with the rate at its start.
func newNetemOptions(p plan) netemOptions {
	o := netemOptions{
		latency: p.delay, jitter: p.more.JitterNS, limit: uint32(p.limit),
		loss: dropThreshold(p.lossPPM), duplicate: dropThreshold(p.more.DuplicatePPM),
		rateBytesPerS: uint64(p.more.RateBitPerS / bitsPerByte),
	}
	if p.more.ReorderPPM > 0 {
		o.gap, o.reorder = firstOfReorders, dropThreshold(p.more.ReorderPPM)
	}
	if b := p.more.Burst; b.On() {
		o.burst = &netemBurst{dropThreshold(b.GoodToBadPPM), dropThreshold(b.BadToGoodPPM), dropThreshold(wholePPM - b.BadLossPPM), dropThreshold(b.GoodLossPPM)}
	}
	return o
}

// impairment is what the options mean in a plan's words, the timeline left out.
func (o netemOptions) impairment() matrix.Impairment {
	i := matrix.Impairment{
		JitterNS: o.jitter, ReorderPPM: thresholdPPM(o.reorder), DuplicatePPM: thresholdPPM(o.duplicate),
		RateBitPerS: int64(o.rateBytesPerS * bitsPerByte),
	}
	if b := o.burst; b != nil {
		i.Burst = matrix.BurstLoss{GoodToBadPPM: thresholdPPM(b.p), BadToGoodPPM: thresholdPPM(b.r), BadLossPPM: wholePPM - thresholdPPM(b.h), GoodLossPPM: thresholdPPM(b.k1)}
	}
	return i
}

// marshal writes TCA_OPTIONS: the old struct, whose times are in ticks, and attributes with exact times behind it.
func (o netemOptions) marshal() ([]byte, error) {
	var b []byte
	for _, v := range []uint32{ticks(o.latency), o.limit, o.loss, o.gap, o.duplicate, ticks(o.jitter)} {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	ae := netlink.NewAttributeEncoder()
	ae.Int64(netemLatency64, int64(o.latency))
	ae.Int64(netemJitter64, int64(o.jitter))
	if o.gap > 0 {
		ae.Bytes(netemReorder, words(o.reorder, 0))
	}
	if o.rateBytesPerS > 0 {
		ae.Bytes(netemRate, words(uint32(min(o.rateBytesPerS, math.MaxUint32)), 0, 0, 0))
		if o.rateBytesPerS > math.MaxUint32 {
			ae.Uint64(netemRate64, o.rateBytesPerS)
		}
	}
	if g := o.burst; g != nil {
		ae.Nested(netemLoss, func(in *netlink.AttributeEncoder) error {
			in.Bytes(netemLossGE, words(g.p, g.r, g.h, g.k1))
			return nil
		})
	}
	attrs, err := ae.Encode()
	return append(b, attrs...), err
}

func words(vs ...uint32) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.NativeEndian.AppendUint32(b, v)
	}
	return b
}

// ticks rounds down to what the old fields hold; newer kernels read the exact attributes instead.
func ticks(d time.Duration) uint32 { return uint32(min(d/netemTick, math.MaxUint32)) }

var errNetemShort = errors.New("netem settings are shorter than the kernel's structures")

// parseNetem reads TCA_OPTIONS of a netem qdisc. odd names a setting that is on although nobody here can ask for it.
func parseNetem(b []byte) (netemOptions, error) {
	if len(b) < netemQoptBytes {
		return netemOptions{}, errNetemShort
	}
	at := func(i int) uint32 { return binary.NativeEndian.Uint32(b[4*i:]) }
	o := netemOptions{
		latency: time.Duration(at(0)) * netemTick, limit: at(1), loss: at(2), gap: at(3), duplicate: at(4), jitter: time.Duration(at(5)) * netemTick,
	}
	ad, err := netlink.NewAttributeDecoder(b[netemQoptBytes:])
	if err != nil {
		return netemOptions{}, fmt.Errorf("netem attributes: %w", err)
	}
	for ad.Next() {
		if err := o.attribute(ad); err != nil {
			return netemOptions{}, err
		}
	}
	return o, ad.Err()
}

// attribute reads one attribute. The kernel sends some that are all zero for things that are off.
func (o *netemOptions) attribute(ad *netlink.AttributeDecoder) error {
	v := ad.Bytes()
	switch ad.Type() {
	case netemLatency64, netemJitter64, netemRate64:
		if len(v) < 8 {
			return errNetemShort
		}
		o.exact(ad.Type(), binary.NativeEndian.Uint64(v))
	case netemReorder:
		if len(v) < 8 {
			return errNetemShort
		}
		o.reorder = binary.NativeEndian.Uint32(v)
		o.strange("correlated reordering", v[4:])
	case netemRate:
		if len(v) < netemRateBytes {
			return errNetemShort
		}
		o.rateBytesPerS = max(o.rateBytesPerS, uint64(binary.NativeEndian.Uint32(v)))
		o.strange("packet or cell overhead", v[4:])
	case netemLoss:
		return o.lossModel(v)
	case netemCorr, netemCorrupt, netemECN, netemSlot:
		o.strange(map[uint16]string{netemCorr: "correlation", netemCorrupt: "corruption", netemECN: "ECN marks", netemSlot: "slots"}[ad.Type()], v)
	}
	return nil
}

func (o *netemOptions) exact(kind uint16, v uint64) {
	switch kind {
	case netemLatency64:
		o.latency = time.Duration(v)
	case netemJitter64:
		o.jitter = time.Duration(v)
	case netemRate64:
		o.rateBytesPerS = v
	}
}

// lossModel reads the nested loss model; without one the kernel sends none.
func (o *netemOptions) lossModel(b []byte) error {
	ad, err := netlink.NewAttributeDecoder(b)
	if err != nil {
		return fmt.Errorf("netem loss model: %w", err)
	}
	for ad.Next() {
		v := ad.Bytes()
		if ad.Type() != netemLossGE {
			o.odd = "another loss model"
			continue
		}
		if len(v) < netemGEBytes {
			return errNetemShort
		}
		at := func(i int) uint32 { return binary.NativeEndian.Uint32(v[4*i:]) }
		o.burst = &netemBurst{at(0), at(1), at(2), at(3)}
	}
	return ad.Err()
}

// strange notes a setting that is not all zero.
func (o *netemOptions) strange(name string, b []byte) {
	for _, v := range b {
		if v != 0 && o.odd == "" {
			o.odd = name
		}
	}
}
