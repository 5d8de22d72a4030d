package images

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

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
