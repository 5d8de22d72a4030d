package images

import (
	"fmt"
	"maps"
	"slices"
)

// Result is the outcome of a comparison.
type Result string

// Results of comparing an image or one of its layers.
const (
	Same          Result = "same"
	Differs       Result = "differs"
	NotComparable Result = "not comparable" // made by other tools: other bytes mean nothing
	NotPinned     Result = "not pinned"
	NotBuilt      Result = "not built"
)

// Finding is one line of a comparison.
type Finding struct {
	Image   string `json:"image"`
	Against string `json:"against"`        // AgainstRebuild or AgainstPins
	Part    string `json:"part"`           // "image", or the path of a layer
	Result  Result `json:"result"`         //
	Have    string `json:"have,omitempty"` // digest
	Want    string `json:"want,omitempty"`
	Why     string `json:"why,omitempty"`
}

// What an image is compared with.
const (
	AgainstRebuild = "rebuild"
	AgainstPins    = "pins"
)

// PartImage stands for config and manifest digest together.
const PartImage = "image"

// Rebuilt compares an image with another build of it.
func Rebuilt(have, again Image) []Finding {
	f := Finding{Image: have.Name, Against: AgainstRebuild, Part: PartImage}
	if have.image == nil || again.image == nil {
		f.Result, f.Why = NotBuilt, have.Missing
		if have.image != nil {
			f.Result, f.Why = Differs, "the second build has none: "+again.Missing
		}
		return []Finding{f}
	}
	tools := map[string]string{}
	for _, l := range again.Layers {
		tools[l.Path] = l.Toolchain
	}
	all := have.against(f, again.pin(), tools)
	if !maps.Equal(have.Labels, again.Labels) { // the revision, say: no compiler excuses that
		all[0].Result, all[0].Why = Differs, "other labels"
	}
	return all
}

// Pinned compares an image with what pins.json expects. Where its C toolchain is not among the pinned ones, the parts that no C compiler
// made are compared with those of another one, which must be the same.
func (p Pins) Pinned(have Image) Finding {
	all := p.Compare(have)
	i := slices.IndexFunc(all, func(f Finding) bool { return f.Result == Differs })
	return all[max(i, 0)]
}

// Compare is Pinned part by part.
func (p Pins) Compare(have Image) []Finding {
	f := Finding{Image: have.Name, Against: AgainstPins, Part: PartImage}
	if have.image == nil {
		f.Result, f.Why = NotBuilt, have.Missing
		return []Finding{f}
	}
	cc, pin, ok := p.find(have)
	if !ok {
		f.Result = NotPinned
		return []Finding{f}
	}
	tools := map[string]string{}
	for _, l := range have.Layers {
		switch {
		case l.C:
			tools[l.Path] = cc
		case l.SizeBytes > 0:
			tools[l.Path] = p.Toolchain
		}
	}
	return have.against(f, pin, tools)
}

// find prefers the pin of the C toolchain that made the image, else takes the first.
func (p Pins) find(i Image) (cc string, pin Pin, ok bool) {
	byTools := p.Images[i.Platform()]
	for _, l := range i.Layers {
		if pin, ok := byTools[l.Toolchain][i.Name]; ok && l.C {
			return l.Toolchain, pin, true
		}
	}
	var names []string
	for name, images := range byTools {
		if _, ok := images[i.Name]; ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", Pin{}, false
	}
	first := slices.Min(names)
	return first, byTools[first][i.Name], true
}

// against compares digests, and layer by layer where they differ. tools says what made the layers of the other side.
func (i Image) against(f Finding, other Pin, tools map[string]string) []Finding {
	f.Have, f.Want, f.Result = i.ConfigDigest, other.Config, Same
	if i.ConfigDigest == other.Config && i.ManifestDigest == other.Manifest {
		return []Finding{f}
	}
	f.Result, f.Why = Differs, "other configuration"
	parts := []Finding{}
	for _, l := range i.Layers {
		part := l.against(f, other.Layers[l.Path], tools[l.Path])
		parts = append(parts, part)
		switch {
		case part.Result == Differs:
			f.Result, f.Why = Differs, "see "+l.Path
		case part.Result == NotComparable && f.Why == "other configuration":
			f.Result, f.Why = NotComparable, part.Why
		}
	}
	if len(other.Layers) != len(i.Layers) {
		f.Result, f.Why = Differs, fmt.Sprintf("has %d layers, not %d", len(i.Layers), len(other.Layers))
	}
	return append([]Finding{f}, parts...)
}

func (l Layer) against(f Finding, want, tool string) Finding {
	f.Part, f.Have, f.Want, f.Why, f.Result = l.Path, l.DiffID, want, "", Same
	switch {
	case l.DiffID == want:
	case l.Toolchain != tool:
		f.Result, f.Why = NotComparable, fmt.Sprintf("made by %s, the other by %s", orUnknown(l.Toolchain), orUnknown(tool))
	default:
		f.Result = Differs
	}
	return f
}

func orUnknown(s string) string {
	if s == "" {
		return "an unknown toolchain"
	}
	return s
}
