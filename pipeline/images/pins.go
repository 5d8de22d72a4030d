package images

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"sync"
)

// Pin is what pins.json expects of one image.
type Pin struct {
	Config   string            `json:"config"`   // sha256:<hex>
	Manifest string            `json:"manifest"` // sha256:<hex>
	Layers   map[string]string `json:"layers"`   // by path in the container: diff id
}

// Pins is containers/pins.json as far as images go.
type Pins struct {
	Toolchain string                               `json:"toolchain"` // of Go, such as go1.26.8
	Images    map[string]map[string]map[string]Pin `json:"images"`    // by platform (linux/amd64), C toolchain and image
}

const maxPins = 1 << 20 // bytes

var sha256Digest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^sha256:[0-9a-f]{64}$`) })

// ReadPins reads pins.json. Fields of other readers are left alone.
func ReadPins(path string) (Pins, error) {
	var p Pins
	b, err := os.ReadFile(path)
	if err != nil {
		return p, fmt.Errorf("pins: %w", err)
	}
	return decodePins(path, b)
}

func decodePins(path string, b []byte) (Pins, error) {
	var p Pins
	if len(b) > maxPins {
		return p, fmt.Errorf("pins %s: over %d bytes", path, maxPins)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("pins %s: %w", path, err)
	}
	for platform, byTools := range p.Images {
		for _, byName := range byTools {
			for name, pin := range byName {
				if !pin.valid() {
					return Pins{}, fmt.Errorf("pins %s: images: %s %s: want digests as sha256: and 64 hex digits", path, platform, name)
				}
			}
		}
	}
	return p, nil
}

func (p Pin) valid() bool {
	for _, d := range p.Layers {
		if !sha256Digest().MatchString(d) {
			return false
		}
	}
	return sha256Digest().MatchString(p.Config) && sha256Digest().MatchString(p.Manifest)
}

// pin is what the image itself would be pinned as.
func (i Image) pin() Pin {
	p := Pin{Config: i.ConfigDigest, Manifest: i.ManifestDigest, Layers: map[string]string{}}
	for _, l := range i.Layers {
		p.Layers[l.Path] = l.DiffID
	}
	return p
}

// Platform names the system that the image is for, as in pins.json.
func (i Image) Platform() string { return "linux/" + i.arch }
