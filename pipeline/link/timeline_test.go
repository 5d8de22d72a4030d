package link

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"transportbench/pipeline/matrix"
)

func TestTimeline(t *testing.T) {
	steps := []matrix.RateStep{{AfterNS: time.Second, RateBitPerS: 5}, {AfterNS: 3 * time.Second, RateBitPerS: 7}}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var at []time.Duration
		var rates []int64
		tl := newTimeline(steps, func(s matrix.RateStep) error {
			at, rates = append(at, time.Since(start)), append(rates, s.RateBitPerS)
			return nil
		})
		time.Sleep(10 * time.Second)
		if err := tl.stop(); err != nil || !slices.Equal(at, []time.Duration{time.Second, 3 * time.Second}) || !slices.Equal(rates, []int64{5, 7}) {
			t.Errorf("changed at %v to %v, %v", at, rates, err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // stopped in between
		changes := 0
		tl := newTimeline(steps, func(matrix.RateStep) error { changes++; return nil })
		time.Sleep(2 * time.Second)
		if err := tl.stop(); err != nil || changes != 1 {
			t.Errorf("%d changes, %v; want 1", changes, err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a failure stays and ends it
		broken := errors.New("no")
		changes := 0
		tl := newTimeline(steps, func(matrix.RateStep) error { changes++; return broken })
		time.Sleep(10 * time.Second)
		if err := tl.failed(); !errors.Is(err, broken) || changes != 1 {
			t.Errorf("%d changes, %v", changes, err)
		}
		if err := tl.stop(); !errors.Is(err, broken) {
			t.Error(err)
		}
	})
	if tl := newTimeline(nil, nil); tl != nil || tl.stop() != nil || tl.failed() != nil {
		t.Error("a link without steps has a timeline")
	}
}
