package runner

import (
	"encoding/json"
	"fmt"

	"transportbench/pipeline/host"
)

// disturbance is what is stored with a run: the counters' difference from before the server's start to the client's end, and the
// flags that this kernel cannot judge.
type disturbance struct {
	Counters host.Counters `json:"counters"`
	Unknown  []string      `json:"unknown,omitempty"`
}

// disturbed compares two host reports and returns what to store and which flags it raises.
func disturbed(before, after json.RawMessage) (json.RawMessage, []string, error) {
	var a, b host.Report
	if err := json.Unmarshal(before, &a); err != nil {
		return nil, nil, fmt.Errorf("host report: %w", err)
	}
	if err := json.Unmarshal(after, &b); err != nil {
		return nil, nil, fmt.Errorf("host report: %w", err)
	}
	d := disturbance{Counters: b.Counters.Sub(a.Counters)}
	var raised []string
	raised, d.Unknown = d.Counters.Flags(host.DefaultThresholds())
	out, err := json.Marshal(d)
	if err != nil {
		return nil, nil, fmt.Errorf("host report: %w", err)
	}
	return out, raised, nil
}
