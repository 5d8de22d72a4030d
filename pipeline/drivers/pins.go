package drivers

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Pins is containers/pins.json as far as drivers go: the toolchain and, by platform and driver, the digest "sha256:<hex>".
type Pins struct {
	Toolchain string                       `json:"toolchain"`
	Drivers   map[string]map[string]string `json:"drivers"`
}

const maxPins = 1 << 20

// ReadPins reads pins.json. Fields of other readers are left alone.
func ReadPins(path string) (Pins, error) {
	var p Pins
	b, err := os.ReadFile(path)
	if err != nil {
		return p, fmt.Errorf("pins: %w", err)
	}
	if len(b) > maxPins {
		return p, fmt.Errorf("pins %s: over %d bytes", path, maxPins)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("pins %s: %w", path, err)
	}
	return p, p.check()
}

func (p Pins) check() error {
	var errs []error
	for platform, byName := range p.Drivers {
		for name, d := range byName {
			if h, ok := strings.CutPrefix(d, "sha256:"); !ok || len(h) != 64 || strings.Trim(h, "0123456789abcdef") != "" {
				errs = append(errs, fmt.Errorf("pins: %s %s: %q is not sha256: and 64 hex digits", platform, name, d))
			}
		}
	}
	return errors.Join(errs...)
}

// Mark sets Drift on every driver that is here and is not the pinned one. Bound drivers are never pinned, and where nothing is pinned
// for this platform there is nothing to differ from.
func (p Pins) Mark(found []Driver) {
	if len(p.Drivers[Platform()]) == 0 {
		return
	}
	for i := range found {
		d := &found[i]
		pinned, ok := p.Drivers[Platform()][d.Name]
		if d.Bound || d.SHA256 == "" || ok && pinned == "sha256:"+d.SHA256 {
			continue
		}
		d.Drift = fmt.Sprintf("driver %s is sha256:%s, pins.json has %s for %s", d.Name, d.SHA256, orNothing(pinned), Platform())
	}
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}
