package matrix

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Impairment is what a user's matrix may ask of a link beside loss and delay. The zero value is none of it; the published
// plan has none.
type Impairment struct {
	Burst        BurstLoss     `json:"burst_loss,omitzero"`
	JitterNS     time.Duration `json:"jitter_ns,omitempty"`      // one way: uniform from delay - jitter to delay + jitter
	ReorderPPM   int           `json:"reorder_ppm,omitempty"`    // packets that leave at once, without the delay
	DuplicatePPM int           `json:"duplicate_ppm,omitempty"`  // packets that arrive twice
	RateBitPerS  int64         `json:"rate_bit_per_s,omitempty"` // both directions together, link header of 14 B included
	Steps        RateSteps     `json:"rate_steps,omitzero"`
}

// BurstLoss is a loss that comes in bursts: a chain of a good and a bad state that moves once a packet, each with its own
// loss. The zero value is none. Sources: E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal
// 39 (1960), 1253-1265; E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", the same 42 (1963).
type BurstLoss struct {
	GoodToBadPPM int `json:"good_to_bad_ppm"`
	BadToGoodPPM int `json:"bad_to_good_ppm"`
	BadLossPPM   int `json:"bad_loss_ppm"`
	GoodLossPPM  int `json:"good_loss_ppm"`
}

// On says whether there is burst loss at all.
func (b BurstLoss) On() bool { return b != BurstLoss{} }

// InBad is the share of packets that meet the bad state, once the chain has forgotten its start.
func (b BurstLoss) InBad() float64 {
	return float64(b.GoodToBadPPM) / float64(b.GoodToBadPPM+b.BadToGoodPPM)
}

// Mean is the share of packets lost in the long run.
func (b BurstLoss) Mean() float64 {
	bad := b.InBad()
	return (bad*float64(b.BadLossPPM) + (1-bad)*float64(b.GoodLossPPM)) / certainPPM
}

// RateStep changes the rate at a moment after the link was put in force.
type RateStep struct {
	AfterNS     time.Duration `json:"after_ns"`
	RateBitPerS int64         `json:"rate_bit_per_s"`
}

// MaxRateSteps bounds a timeline.
const MaxRateSteps = 4

// RateSteps is a timeline of rates in order; an array, so that a LinkSpec stays comparable. Unused places are zero.
type RateSteps [MaxRateSteps]RateStep

// Used are the steps in order.
func (s RateSteps) Used() []RateStep {
	n := 0
	for n < len(s) && s[n] != (RateStep{}) {
		n++
	}
	return s[:n]
}

// MarshalJSON writes the used steps only.
func (s RateSteps) MarshalJSON() ([]byte, error) { return json.Marshal(s.Used()) }

// UnmarshalJSON reads at most MaxRateSteps steps.
func (s *RateSteps) UnmarshalJSON(text []byte) error {
	var steps []RateStep
	if err := json.Unmarshal(text, &steps); err != nil {
		return err
	}
	if len(steps) > MaxRateSteps {
		return fmt.Errorf("rate_steps has %d entries, want at most %d", len(steps), MaxRateSteps)
	}
	*s = RateSteps{}
	copy(s[:], steps)
	return nil
}

// Lossy says whether packets are lost on purpose.
func (l LinkSpec) Lossy() bool { return l.LossPPM > 0 || l.More.Burst.On() }

// Clean says whether the link does nothing to any packet.
func (l LinkSpec) Clean() bool { return l.LossPPM == 0 && l.DelayNS == 0 && l.More == Impairment{} }

// Orderly says whether every packet that arrives does so once and in order.
func (l LinkSpec) Orderly() bool {
	return l.More.JitterNS == 0 && l.More.ReorderPPM == 0 && l.More.DuplicatePPM == 0
}

// String is the form that profile ids and plans use: b<good to bad>x<bad to good>x<bad loss>x<good loss> in percent, j<jitter>
// in ms, o<reordered> and u<duplicated> in percent, r<rate> in kbit/s and s<after>x<rate> in ms and kbit/s; - for none.
func (i Impairment) String() string {
	var parts []string
	if b := i.Burst; b.On() {
		parts = append(parts, fmt.Sprintf("b%sx%sx%sx%s", percentOf(b.GoodToBadPPM), percentOf(b.BadToGoodPPM), percentOf(b.BadLossPPM), percentOf(b.GoodLossPPM)))
	}
	if i.JitterNS > 0 {
		parts = append(parts, "j"+millis(i.JitterNS))
	}
	if i.ReorderPPM > 0 {
		parts = append(parts, "o"+percentOf(i.ReorderPPM))
	}
	if i.DuplicatePPM > 0 {
		parts = append(parts, "u"+percentOf(i.DuplicatePPM))
	}
	if i.RateBitPerS > 0 {
		parts = append(parts, fmt.Sprintf("r%d", i.RateBitPerS/bitPerKbit))
	}
	for _, s := range i.Steps.Used() {
		parts = append(parts, fmt.Sprintf("s%sx%d", millis(s.AfterNS), s.RateBitPerS/bitPerKbit))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, "-")
}

// also appends the impairments to a sentence about loss and delay, by their names in a matrix file.
func (i Impairment) also() string {
	var text string
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"burst_loss", i.Burst.On()}, {"jitter", i.JitterNS > 0}, {"reorder_percent", i.ReorderPPM > 0},
		{"duplicate_percent", i.DuplicatePPM > 0}, {"rate_kbit_per_s", i.RateBitPerS > 0}, {"rate_steps", i.Steps != RateSteps{}},
	} {
		if f.on {
			text += " and " + f.name
		}
	}
	return text
}

func percentOf(ppm int) string {
	return strconv.FormatFloat(float64(ppm)/ppmPerPercent, 'f', -1, 64)
}

func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}
