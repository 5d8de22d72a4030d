package link

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mdlayher/netlink"

	"transportbench/pipeline/matrix"
)

func netemPlans() []plan {
	return []plan{
		{limit: 100_000},
		{limit: 100_000, lossPPM: 10_000, delay: 5 * time.Millisecond},
		{limit: 7, delay: 5*time.Millisecond + 1, more: matrix.Impairment{JitterNS: 1500 * time.Microsecond, ReorderPPM: 20_000, DuplicatePPM: 5_000}},
		{limit: 1, more: matrix.Impairment{Burst: bursty(), RateBitPerS: 20_000_000}},
		{limit: 1, delay: time.Minute, more: matrix.Impairment{RateBitPerS: 100_000_000_000, Burst: matrix.BurstLoss{GoodToBadPPM: 1, BadToGoodPPM: 999_999, BadLossPPM: 1_000_000}}},
	}
}

// TestNetemComesBack requires that what is written means the plan when it is read.
func TestNetemComesBack(t *testing.T) {
	for _, p := range netemPlans() {
		b, err := newNetemOptions(p).marshal()
		if err != nil {
			t.Fatal(err)
		}
		o, err := parseNetem(b)
		if err != nil || o.odd != "" {
			t.Fatalf("%+v: %v, %q", p, err, o.odd)
		}
		if o.latency != p.delay || int(o.limit) != p.limit || thresholdPPM(o.loss) != p.lossPPM {
			t.Errorf("%+v came back as %+v", p, o)
		}
		if diff := cmp.Diff(p.more, o.impairment()); diff != "" {
			t.Error(diff)
		}
	}
}

// TestNetemNotesWhatNobodyAsked sets what this program never sets.
func TestNetemNotesWhatNobodyAsked(t *testing.T) {
	base, err := newNetemOptions(plan{limit: 1}).marshal()
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		add  func(*netlink.AttributeEncoder)
		odd  string
	}{
		{"zeros as the kernel sends them", func(ae *netlink.AttributeEncoder) {
			ae.Bytes(netemCorr, words(0, 0, 0))
			ae.Bytes(netemReorder, words(0, 0))
			ae.Bytes(netemCorrupt, words(0, 0))
			ae.Bytes(netemRate, words(0, 0, 0, 0))
			ae.Uint32(netemECN, 0)
		}, ""},
		{"correlation", func(ae *netlink.AttributeEncoder) { ae.Bytes(netemCorr, words(0, 1, 0)) }, "correlation"},
		{"corruption", func(ae *netlink.AttributeEncoder) { ae.Bytes(netemCorrupt, words(1, 0)) }, "corruption"},
		{"ECN", func(ae *netlink.AttributeEncoder) { ae.Uint32(netemECN, 1) }, "ECN marks"},
		{"slots", func(ae *netlink.AttributeEncoder) { ae.Bytes(netemSlot, words(1)) }, "slots"},
		{"overhead", func(ae *netlink.AttributeEncoder) { ae.Bytes(netemRate, words(1, 2, 0, 0)) }, "packet or cell overhead"},
		{"another model", func(ae *netlink.AttributeEncoder) {
			ae.Nested(netemLoss, func(in *netlink.AttributeEncoder) error {
				in.Bytes(1, words(1, 2, 3, 4, 5))
				return nil
			})
		}, "another loss model"},
	}
	for _, c := range cases {
		ae := netlink.NewAttributeEncoder()
		c.add(ae)
		more, err := ae.Encode()
		if err != nil {
			t.Fatal(err)
		}
		o, err := parseNetem(append(append([]byte(nil), base...), more...))
		if err != nil || o.odd != c.odd {
			t.Errorf("%s: %v, %q, want %q", c.name, err, o.odd, c.odd)
		}
	}
}

// sampleQdisc is the listing of one netem, with statistics.
func sampleQdisc(t testing.TB) []byte {
	t.Helper()
	options, err := newNetemOptions(netemPlans()[3]).marshal()
	if err != nil {
		t.Fatal(err)
	}
	b, err := qdiscMessage(1, options)
	if err != nil {
		t.Fatal(err)
	}
	ae := netlink.NewAttributeEncoder()
	ae.Nested(tcaStats2, func(in *netlink.AttributeEncoder) error {
		in.Bytes(statsBasic, append(binary.NativeEndian.AppendUint64(nil, 9), words(70, 0)...))
		in.Uint64(statsPkt64, 1<<32+70)
		in.Bytes(statsQueue, words(3, 300, 5, 0, 0))
		return nil
	})
	attrs, err := ae.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(b, attrs...)
}

func TestParseQdisc(t *testing.T) {
	q, err := parseQdisc(sampleQdisc(t))
	if err != nil || q.ifindex != 1 || q.parent != rootParent || q.kind != BackendNetem || !q.counted {
		t.Fatalf("%+v, %v", q, err)
	}
	if q.packets != 1<<32+70 || q.waiting != 3 || q.dropped != 5 {
		t.Errorf("counted %+v", q)
	}
	if o, err := parseNetem(q.options); err != nil || o.burst == nil {
		t.Errorf("options %+v, %v", o, err)
	}
	for _, n := range []int{0, tcMsgBytes - 1, tcMsgBytes + 3} {
		if _, err := parseQdisc(sampleQdisc(t)[:n]); err == nil {
			t.Errorf("%d bytes were taken", n)
		}
	}
}

func FuzzParseQdisc(f *testing.F) {
	f.Add(sampleQdisc(f))
	f.Add(make([]byte, tcMsgBytes))
	for _, p := range netemPlans() {
		b, err := newNetemOptions(p).marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if q, err := parseQdisc(b); err == nil {
			_, _ = parseNetem(q.options) // must return, whatever is in there
		}
		o, err := parseNetem(b)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error is not one line: %q", err)
			}
			return
		}
		again, err := o.marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseNetem(again); err != nil {
			t.Errorf("own settings were refused: %v", err)
		}
	})
}
