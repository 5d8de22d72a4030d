package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
)

// output passes records on, one a Write, and changes some of them.
type output struct {
	way  string
	w    io.Writer
	held []byte
}

func (o *output) Write(line []byte) (int, error) {
	var rec map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&rec); err != nil {
		return 0, err
	}
	_, err := o.w.Write(o.change(rec["type"].(string), rec, line))
	return len(line), err
}

// change returns the bytes to write instead of the record.
func (o *output) change(kind string, rec map[string]any, line []byte) []byte {
	switch o.way + " " + kind {
	case "junk hello":
		return append([]byte("listening, have fun\n"), line...)
	case "long-line hello":
		return append(append(bytes.Clone(line), strings.Repeat("x", 70<<10)...), '\n')
	case "flood hello":
		return bytes.Repeat(line, 20000)
	case "order connected":
		o.held = bytes.Clone(line)
		return nil
	case "order start":
		return append(bytes.Clone(line), o.held...)
	case "no-done done", "no-result result", "no-start start":
		return nil
	case "two-describes describe":
		return append(bytes.Clone(line), line...)
	}
	if !o.lie(kind, rec) {
		return line
	}
	b, err := json.Marshal(rec)
	if err != nil {
		return line
	}
	return append(b, '\n')
}

// lie changes one figure of a record.
func (o *output) lie(kind string, rec map[string]any) bool {
	switch o.way + " " + kind {
	case "contract describe":
		rec["contract"] = 2
	case "anonymous describe":
		rec["source_commit"] = ""
	case "done-counts done":
		rec["messages"], rec["per_listener"] = 1, []int{1}
	case "done-connections done":
		rec["connections"] = 77
	case "bytes result":
		rec["bytes"] = 800
	case "lost result":
		rec["lost"] = 1
	case "elapsed result":
		rec["elapsed_ns"] = int64(1e15)
	case "p99 result":
		rec["sparse"].(map[string]any)["p99_ns"] = int64(1e12)
	case "rtt connections":
		for _, c := range rec["per_connection"].([]any) {
			c.(map[string]any)["rtt_sum_ns"] = int64(1e15)
		}
	case "clock start":
		rec["mono_ns"] = 1
	default:
		settings, _ := rec["settings"].(map[string]any)
		return o.lieOfSettings(kind, settings)
	}
	return true
}

// lieOfSettings changes one effective setting.
func (o *output) lieOfSettings(kind string, settings map[string]any) bool {
	switch o.way + " " + kind {
	case "affinity hello":
		settings["affinity"] = []int{0, 1, 2, 3, 4, 5, 6, 7}
	case "workers hello":
		settings["workers"] = 64
	case "mtu hello":
		settings["mtu"] = 9000
	case "window hello":
		settings["window"] = 64
	case "buffers connected":
		settings["rcvbuf_granted"] = 0
	case "listeners hello":
		settings["listeners"] = 1
	default:
		return false
	}
	return true
}
