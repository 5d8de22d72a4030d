package summary

import (
	"encoding/json"

	"transportbench/artifacts"
)

// count is a counter of the host that says "unknown" where the kernel has none.
type count struct {
	n  float64
	ok bool
}

// UnmarshalJSON takes a number; every other value is unknown.
func (c *count) UnmarshalJSON(b []byte) error {
	c.ok = json.Unmarshal(b, &c.n) == nil
	return nil
}

// hostDelta is what this package reads of Record.Host: pipeline/host writes it.
type hostDelta struct {
	Counters struct {
		MonoNS   count `json:"mono_ns"`
		Switches count `json:"context_switches"`
		CPU      []struct {
			Steal count `json:"steal_ns"`
			Soft  count `json:"softirq_ns"`
		} `json:"cpu"`
		Pressure map[string]struct {
			Some count `json:"some_us"`
		} `json:"pressure"`
		Throttle struct {
			Quota count `json:"cgroup_ns"`
		} `json:"throttle"`
	} `json:"counters"`
}

// disturbances turns the counters of a run into rates, so that runs of unequal length compare. Unknown ones are left out.
func disturbances(r *artifacts.Record) []Disturbance {
	var h hostDelta
	if len(r.Host) == 0 || json.Unmarshal(r.Host, &h) != nil || !h.Counters.MonoNS.ok || h.Counters.MonoNS.n <= 0 {
		return nil
	}
	c, wall := h.Counters, h.Counters.MonoNS.n
	var out []Disturbance
	add := func(name, unit string, v count, scale float64) {
		if v.ok {
			out = append(out, Disturbance{name, unit, v.n * scale})
		}
	}
	steal, soft := count{ok: len(c.CPU) > 0}, count{ok: len(c.CPU) > 0}
	for _, cpu := range c.CPU {
		steal.n, steal.ok = steal.n+cpu.Steal.n, steal.ok && cpu.Steal.ok
		soft.n, soft.ok = soft.n+cpu.Soft.n, soft.ok && cpu.Soft.ok
	}
	perCPU := 100 / (wall * float64(max(1, len(c.CPU))))
	add("stolen time", "%", steal, perCPU)
	add("softirq time", "%", soft, perCPU)
	for _, kind := range []string{"cpu", "io", "memory"} {
		add(kind+" pressure", "%", c.Pressure[kind].Some, 1000*100/wall)
	}
	add("context switches", "/s", c.Switches, 1e9/wall)
	add("throttled", "%", c.Throttle.Quota, 100/wall)
	return out
}
