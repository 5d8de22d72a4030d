package main

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// number is a printed number: its digits are copied, never computed.
type number = json.Number

// source is the input of published cells.
type source struct {
	Schema       string            `json:"schema"`
	Measured     string            `json:"measured"`
	Source       string            `json:"source"`
	Machine      map[string]string `json:"machine"`
	Measurements map[string]int    `json:"measurements"`
	Cells        []sourceCell      `json:"cells"`
}

type sourceCell struct {
	sourceKey
	Messages   int       `json:"messages"`
	Repeats    int       `json:"repeats"`
	Unit       string    `json:"unit"`
	Throughput *quantity `json:"throughput"`
	P50        *quantity `json:"p50"`
	P95        *quantity `json:"p95"`
	P99        *quantity `json:"p99"`
	ClientRSS  *quantity `json:"client_rss_mib"`
	ServerRSS  *quantity `json:"server_rss_mib"`
}

// sourceKey names a cell in the source.
type sourceKey struct {
	Group       string  `json:"group"`
	Transport   string  `json:"transport"`
	Payload     int     `json:"payload_bytes"`
	Connections int     `json:"connections"`
	Loss        float64 `json:"loss"`   // share
	RTT         float64 `json:"rtt_ms"` // both ways
}

type quantity struct {
	Unit   string `json:"unit"`
	Median number `json:"median"`
	Min    number `json:"min"`
	Max    number `json:"max"`
}

type sourceClaims struct {
	Schema string `json:"schema"`
	Claims []struct {
		ID     string        `json:"id"`
		Text   string        `json:"text"`
		Equals []sourcePoint `json:"equals"`
		Order  []sourcePoint `json:"order"`
	} `json:"claims"`
	Notes struct {
		Amendments []struct {
			Cell struct {
				Group     string `json:"group"`
				Transport string `json:"transport"`
			} `json:"cell"`
			Metric         string   `json:"metric"`
			Median         number   `json:"published_median_us"`
			OriginalMedian number   `json:"original_median_us"`
			OriginalRange  []number `json:"original_range_us"`
			RetestRuns     int      `json:"retest_runs"`
			RetestRange    []number `json:"retest_range_us"`
			Note           string   `json:"note"`
		} `json:"amendments"`
		DropsMax map[string]int `json:"udp_receive_buffer_drops_max"`
		Note     string         `json:"note"`
	} `json:"notes"`
}

type sourcePoint struct {
	Cell   sourceKey `json:"cell"`
	Metric string    `json:"metric"`
	Value  *number   `json:"value"`
}

// suite maps the source's groups to our suites.
func (k sourceKey) suite() (string, error) {
	s, ok := map[string]string{
		"single-throughput": "single", "sparse-latency": "sparse", "concurrent-throughput": "concurrent", "loaded-latency": "loaded",
	}[k.Group]
	if !ok {
		return "", fmt.Errorf("unknown group %q", k.Group)
	}
	return s, nil
}

func (k sourceKey) lossPPM() int { return int(math.Round(k.Loss * 1e6)) }

// delayNS is one way: half of the published round trip.
func (k sourceKey) delayNS() int64 { return int64(math.Round(k.RTT * 1e6 / 2)) }

// profile is <suite>-<payload>B-<N>c-l<loss %>-d<one-way ms>.
func (k sourceKey) profile() (string, error) {
	s, err := k.suite()
	short := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	return fmt.Sprintf("%s-%dB-%dc-l%s-d%s", s, k.Payload, k.Connections, short(float64(k.lossPPM())/1e4), short(float64(k.delayNS())/1e6)), err
}

func (k sourceKey) cell() (string, error) {
	p, err := k.profile()
	return p + "/" + k.Transport, err
}

// metric gives a quantity of a group the name that package summary uses.
func (k sourceKey) metric(name string) (string, error) {
	switch {
	case name == "throughput" && k.Group != "sparse-latency" && k.Group != "loaded-latency":
		return name, nil
	case k.Group == "sparse-latency" && (name == "p50" || name == "p95" || name == "p99"):
		return "sparse_" + name, nil
	case k.Group == "loaded-latency" && (name == "p50" || name == "p99"):
		return "loaded_" + name, nil
	}
	return "", fmt.Errorf("group %s has no metric %q", k.Group, name)
}
