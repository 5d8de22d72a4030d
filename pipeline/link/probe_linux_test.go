package link

import (
	"context"
	"testing"
	"time"
)

func TestProbe(t *testing.T) {
	inNamespace(t, func(t *testing.T) {
		start := time.Now()
		caps := Probe(context.Background())
		t.Logf("%s", time.Since(start))
		for _, c := range caps {
			t.Logf("%+v", c)
			if !c.OK && (c.Reason == "" || c.Fix == "") {
				t.Errorf("%s is unavailable without reason or fix", c.Backend)
			}
		}
	})
}
