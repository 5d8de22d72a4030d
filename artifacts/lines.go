package artifacts

import (
	"encoding/json"
	"time"
)

// Resume is the journal line that opens every session after the first.
type Resume struct {
	Type        string    `json:"type"`
	Prev        string    `json:"prev"`
	Started     time.Time `json:"started"`
	Interrupted string    `json:"interrupted,omitempty"` // run id that was in progress
	Torn        string    `json:"torn,omitempty"`        // file in logs/ holding the bytes of an unfinished line
	Orphans     []string  `json:"orphans,omitempty"`     // files of the interrupted attempt, moved to logs/
	Unsealed    string    `json:"unsealed,omitempty"`    // file in logs/ holding the seal that this session lifts
	RetryFailed bool      `json:"retry_failed,omitempty"`
	Remaining   int       `json:"remaining"` // runs still to do
}

// Probe is the machine's own speed at the start of a block; drift between blocks shows here.
type Probe struct {
	Type    string        `json:"type"`
	Prev    string        `json:"prev"`
	Block   int           `json:"block"`
	Profile string        `json:"profile"`
	Started time.Time     `json:"started"`
	Results []ProbeResult `json:"results"`
}

// ProbeResult is one short burst of a reference column.
type ProbeResult struct {
	Variant   string `json:"variant"`
	ElapsedNS int64  `json:"elapsed_ns"`
	Bytes     int64  `json:"bytes"` // verified payload, one direction
	Messages  int64  `json:"messages"`
	Lost      int64  `json:"lost"`
	Reason    string `json:"reason,omitempty"` // why there is no number
}

// Suite is the journal line at the first run of a suite in a session.
type Suite struct {
	Type    string          `json:"type"`
	Prev    string          `json:"prev"`
	Suite   string          `json:"suite"`
	Started time.Time       `json:"started"`
	RSS     *RSS            `json:"rss,omitempty"`
	Reason  string          `json:"reason,omitempty"` // why floor and step are not known
	Host    json.RawMessage `json:"host,omitempty"`   // capture from inside
}
