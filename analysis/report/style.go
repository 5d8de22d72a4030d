package report

import (
	"fmt"
	"hash/fnv"
	"html/template"
	"strings"
)

// look is how a column is drawn everywhere: the colour belongs to the transport, marker and dashes to the API mode, so that no
// reading depends on colour alone.
type look struct {
	Class  string // of the transport's colour
	Marker string // path around 0,0
	Dash   string // stroke-dasharray; empty: solid
	family int    // index into families
	shape  int    // index into shapes
}

// family is a transport's colour on white and on black. Colours are those of Okabe and Ito (jfly.uni-koeln.de/color, 2008),
// darkened on white where they fall under 3:1 contrast (WCAG 2.2, 1.4.11).
type family struct{ prefix, class, light, dark string }

var families = [...]family{
	{"raknet", "raknet", "#0072b2", "#56b4e9"},
	{"tcp", "tcp", "#c65500", "#f0913f"},
	{"kcp-go", "kcp-go", "#857300", "#d9c33a"},
	{"kcp", "kcp", "#008a65", "#2bc79a"},
	{"quic", "quic", "#b04a87", "#e39cc8"},
	{"udp", "udp", "#6a6a6a", "#b4b4b4"},
	{"enet", "enet", "#5b43c9", "#a596ff"},
	{"", "other1", "#8a1c3c", "#ff8fa8"},
	{"", "other2", "#2f4f2f", "#a8d08d"},
	{"", "other3", "#3a3a3a", "#e8e8e8"},
}

// shapes are the markers with the dashes that go with them.
var shapes = [...]struct{ path, dash string }{
	{"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z", ""},                             // circle: ordinary sends
	{"M-3.5-3.5h7v7h-7Z", "6 3"},                                           // square: batch calls
	{"M0-4.6L4.4 3.4H-4.4Z", "2 3"},                                        // triangle: a policy, or another setting
	{"M0-5L5 0L0 5L-5 0Z", "8 3 2 3"},                                      // diamond: batch calls and a policy
	{"M-1.4-4.5h2.8v3.1h3.1v2.8h-3.1v3.1h-2.8v-3.1h-3.1v-2.8h3.1Z", "1 2"}, // cross: batch calls packed to the MTU
}

// lookOf depends on the name alone, so a column looks the same in every artifact.
func lookOf(variant string) look {
	f, s := familyOf(variant), shapeOf(variant)
	return look{Class: "f-" + families[f].class, Marker: shapes[s].path, Dash: shapes[s].dash, family: f, shape: s}
}

func familyOf(variant string) int {
	for i, f := range families {
		if f.prefix != "" && strings.HasPrefix(variant, f.prefix) {
			return i
		}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(variant)) // never fails
	return len(families) - 3 + int(h.Sum32()%3)
}

func shapeOf(variant string) int {
	has := func(s string) bool { return strings.Contains(variant, s) }
	batch := has("batch") || strings.HasSuffix(variant, "-gso")
	other := has("policy") || has("rto") || has("nogso")
	switch {
	case batch && has("full"):
		return 4
	case batch && other:
		return 3
	case other:
		return 2
	case batch:
		return 1
	}
	return 0
}

// colours writes one rule a transport for both colour schemes.
func colours() template.CSS {
	var light, dark strings.Builder
	for _, f := range families {
		fmt.Fprintf(&light, ".f-%s{--c:%s}\n", f.class, f.light)
		fmt.Fprintf(&dark, ".f-%s{--c:%s}\n", f.class, f.dark)
	}
	return template.CSS(light.String() + "@media screen and (prefers-color-scheme:dark){\n" + dark.String() + "}\n")
}
