package link

import (
	"fmt"
	"slices"
	"strings"

	"transportbench/pipeline/matrix"
)

// preference is the order in which auto tries backends: the reference first, then the cheapest.
var preference = []string{BackendNetem, BackendNFT, BackendNFQueue}

// Choose picks the backend for a spec among what Probe found. Auto takes the first that can do the profile; a named backend
// is taken or refused, never replaced. The error is an *UnsupportedError.
func Choose(spec matrix.LinkSpec, caps []Capability) (string, error) {
	if spec.Topology != "" && spec.Topology != "lo" {
		return "", &UnsupportedError{Missing: fmt.Sprintf("link topology %q is reserved", spec.Topology), Fix: "use lo"}
	}
	names := preference
	if spec.Backend != "" && spec.Backend != "auto" {
		if !slices.Contains(preference, spec.Backend) {
			return "", &UnsupportedError{Missing: fmt.Sprintf("link backend %q is unknown", spec.Backend), Fix: "use auto, netem, nft or nfqueue"}
		}
		names = []string{spec.Backend}
	}
	var missing, fixes []string
	for _, name := range names {
		c := capability(caps, name)
		reason := refusal(spec, c)
		if reason == "" {
			return name, nil
		}
		missing = append(missing, name+": "+reason)
		if c.Fix != "" && !slices.Contains(fixes, c.Fix) {
			fixes = append(fixes, c.Fix)
		}
	}
	return "", &UnsupportedError{Missing: needs(spec) + " not possible here (" + strings.Join(missing, "; ") + ")", Fix: strings.Join(fixes, "; or ")}
}

func capability(caps []Capability, name string) Capability {
	for _, c := range caps {
		if c.Backend == name {
			return c
		}
	}
	return Capability{Backend: name, Reason: "not probed", Fix: "run bench doctor"}
}

// refusal says why a backend cannot serve the spec, or nothing.
func refusal(spec matrix.LinkSpec, c Capability) string {
	if !c.OK {
		return c.Reason
	}
	if cannot := lacking(c.Backend, spec); cannot != "" {
		return "cannot " + cannot
	}
	return ""
}
