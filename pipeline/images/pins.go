package images

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

var sha256Digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

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
		if !sha256Digest.MatchString(d) {
			return false
		}
	}
	return sha256Digest.MatchString(p.Config) && sha256Digest.MatchString(p.Manifest)
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

// Freeze writes the digests of images, made with the C toolchain cc, into pins.json. Images of the same platform and toolchain that are
// not among them keep their pins, and so does everything else in the file, in its order.
func Freeze(path, cc string, images []Image) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("pins: %w", err)
	}
	p, err := decodePins(path, text)
	if err != nil {
		return err
	}
	for _, i := range images {
		if i.image != nil {
			p.set(i.Platform(), cc, i)
		}
	}
	if text, err = replaceField(text, "images", p.Images); err != nil {
		return fmt.Errorf("pins %s: %w", path, err)
	}
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(tmp, text, 0o644); err != nil {
		return fmt.Errorf("pins: %w", err)
	}
	return os.Rename(tmp, path)
}

func (p *Pins) set(platform, cc string, i Image) {
	if p.Images == nil {
		p.Images = map[string]map[string]map[string]Pin{}
	}
	if p.Images[platform] == nil {
		p.Images[platform] = map[string]map[string]Pin{}
	}
	if p.Images[platform][cc] == nil {
		p.Images[platform][cc] = map[string]Pin{}
	}
	p.Images[platform][cc][i.Name] = i.pin()
}

// replaceField sets one field of a JSON object and keeps the order of all others; a new field comes last.
func replaceField(text []byte, field string, value any) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("want a JSON object: %w", err)
	}
	var keys []string
	fields := map[string]any{field: value}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string) // a key of an object is a string
		var old json.RawMessage
		if err := dec.Decode(&old); err != nil {
			return nil, err
		}
		keys = append(keys, name)
		if name != field {
			fields[name] = old
		}
	}
	if !slices.Contains(keys, field) {
		keys = append(keys, field)
	}
	return writeFields(keys, fields)
}

func writeFields(keys []string, fields map[string]any) ([]byte, error) {
	var flat, out bytes.Buffer
	for n, k := range keys {
		name, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(fields[k])
		if err != nil {
			return nil, err
		}
		flat.WriteByte("{,"[min(n, 1)])
		fmt.Fprintf(&flat, "%s:%s", name, value)
	}
	flat.WriteByte('}')
	if err := json.Indent(&out, flat.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	return append(out.Bytes(), '\n'), nil
}
