package matrix

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// WriteTSV writes one line a run, in order of execution, without a header: index, block, run id, suite, payload (B), connections, messages, warmup,
// samples, window (per connection), loss (ppm), one-way delay (ns), link backend, minimum RTO (ns), driver, api, policy, mtu, gso, listeners;
// in a plan in which some link has further impairments, these as the last column, - for none.
func (p *Plan) WriteTSV(w io.Writer) error {
	out := bufio.NewWriter(w)
	more := slices.ContainsFunc(p.Runs, func(r Run) bool { return r.Profile.Link.More != Impairment{} })
	for _, r := range p.Runs {
		q, v := r.Profile, r.Variant
		fmt.Fprintf(out, "%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%d\t%s\t%s\t%s\t%d\t%s\t%d",
			r.Index, r.Block, r.ID, q.Suite, q.PayloadBytes, q.Connections, q.Messages, q.Warmup,
			q.Samples, q.Window, q.Link.LossPPM, int64(q.Link.DelayNS), q.Link.Backend, int64(v.RTOMinNS),
			v.Driver, v.API, v.Policy, v.MTU[q.Suite], onOff(r.GSO()), q.Listeners)
		if more {
			fmt.Fprintf(out, "\t%s", q.Link.More)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// WriteJSONL writes one JSON object a run, in order of execution, with the whole profile and column.
func (p *Plan) WriteJSONL(w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	for _, r := range p.Runs {
		line := struct {
			Index int `json:"index"`
			hashedRun
			Unsupported string `json:"unsupported,omitempty"`
		}{r.Index, hashedRun{r.ID, r.Block, r.Repetition, r.Seed, r.Profile, r.Variant}, r.Unsupported()}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("plan line %d: %w", r.Index, err)
		}
	}
	return out.Flush()
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
