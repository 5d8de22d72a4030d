// Package runtimetest is the conformance suite that every sandbox.Runtime must pass, and the probe driver it runs in them.
package runtimetest

import "encoding/json"

// ProbeArg as the first argument turns a program into the probe driver: `if argv[1] == ProbeArg { os.Exit(ProbeMain(argv[2:])) }`.
const ProbeArg = "__probe"

// Facts is what the probe driver sees of the place it runs in.
type Facts struct {
	Type       string   `json:"type"` // facts
	Up         []string `json:"up"`   // interfaces that are up
	Congestion string   `json:"congestion_control"`
	Outside    string   `json:"outside"` // error of dialling an address outside, empty: it worked
	Nice       int      `json:"nice"`
	Affinity   []int    `json:"affinity"`
	CapEff     string   `json:"cap_eff"`
	Env        []string `json:"env"`
	LinkChange string   `json:"link_change"` // error of taking lo down, empty: it worked
}

// line is any record of the probe's output, with what the checks need of it.
type line struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	Status int    `json:"status"`
	Signal int    `json:"signal"`
	NoFile uint64 `json:"nofile_soft"`
	raw    json.RawMessage
}
