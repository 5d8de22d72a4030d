package calibrate

import (
	"encoding/json"
	"fmt"
	"io"
)

// maxBytes bounds a report that is read back; a real one is a few KiB.
const maxBytes = 1 << 20

// Read decodes one report, strictly.
func Read(r io.Reader) (*Report, error) {
	dec := json.NewDecoder(io.LimitReader(r, maxBytes))
	dec.DisallowUnknownFields()
	var report Report
	if err := dec.Decode(&report); err != nil {
		return nil, fmt.Errorf("calibration not read: %w", err)
	}
	if report.Schema != Schema {
		return nil, fmt.Errorf("calibration has schema %q, this program reads %s", report.Schema, Schema)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("calibration is followed by something else")
	}
	return &report, nil
}
