package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"transportbench/analysis/summary"
	"transportbench/artifacts"
)

func render(t testing.TB, in Input) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func fixtureInput(t testing.TB) Input {
	a, s := fixtureArtifact(t)
	return Input{
		Artifact: a, Summary: s, Rerun: func(id string) string { return "bench run --only " + id },
		Ratios: []summary.RatioProfile{{
			Profile: "single-800B-1c-l5-d0", Metric: summary.Throughput, Blocks: 3, Columns: 3, Gate: 0.01, Adjusted: 0.04, Notes: []string{"one run is out"},
			Ratios: []summary.Ratio{
				{Num: "tcp", Den: "udp", Role: summary.RolePrimary, N: 3, Effect: 1.42, Lo: 1.31, Hi: 1.55, AllLo: 1.2, AllHi: 1.7, Least: 1.3, Greatest: 1.5, Adjusted: 0.00001, Claim: true, Verdict: "faster"},
				{Num: "raknet-send", Den: "udp", Role: summary.RolePrimary, N: 3, Effect: 0.012, Lo: math.NaN(), Hi: math.NaN(), AllLo: math.NaN(), AllHi: math.NaN(), Adjusted: math.NaN(), Bimodal: true, Verdict: summary.VerdictNone},
				{Num: "tcp", Den: "raknet-send", Role: summary.RoleExploratory, N: 3, Effect: 1.01, Lo: 0.9, Hi: 1.1, AllLo: 0.8, AllHi: 1.2, Adjusted: 0.5, Margin: 0.15, Needed: 12, Verdict: summary.VerdictSame},
			},
		}},
	}
}

func TestHTMLGolden(t *testing.T) {
	in := fixtureInput(t)
	got := render(t, in)
	golden(t, "report.html", got)
	for range 5 { // maps are walked in another order each time
		if !bytes.Equal(got, render(t, in)) {
			t.Fatal("the same input gave other bytes")
		}
	}
	for _, want := range []string{
		"our own implementation", "asserted by the producer only", "not in this plan", "window ceiling 4.88 MiB/s", "unsupported: driver | is\nnot built",
		"Placement is reduced", "uncommitted changes", "[1.31, 1.55]", "<span class=\"line\">=</span>", "cubic", "200 ms", "n=3", "stolen-time", "Congestion control",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	for _, bad := range []string{"NaN", "%!", "+Inf", "ZgotmplZ"} {
		if bytes.Contains(got, []byte(bad)) {
			t.Errorf("the page holds %q", bad)
		}
	}
}

// elements walks a parsed page.
func elements(t testing.TB, page []byte, visit func(n *html.Node, attr map[string]string)) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
		}
		visit(n, attr)
	}
}

// checkOffline finds what would leave the page or run in it.
func checkOffline(t testing.TB, page []byte) {
	t.Helper()
	allowed := strings.Fields(`html head meta title style body a header h1 h2 h3 p strong ul li b i div span small details summary dl dt dd nav main section
		table caption thead tbody tr th td svg desc g line text path polyline figure figcaption code`)
	elements(t, page, func(n *html.Node, attr map[string]string) {
		if !slices.Contains(allowed, n.Data) {
			t.Errorf("element <%s> is none of the template's", n.Data)
		}
		for k, v := range attr {
			switch {
			case strings.HasPrefix(k, "on"), k == "src", k == "srcset", k == "style", k == "action", k == "data":
				t.Errorf("<%s> has attribute %s=%q", n.Data, k, v)
			case k == "href" && !strings.HasPrefix(v, "#"):
				t.Errorf("<%s> leads to %q", n.Data, v)
			}
		}
		if n.Data == "style" && n.Namespace == "" {
			for _, bad := range []string{"url(", "@import", "@font-face", "expression("} {
				if strings.Contains(n.FirstChild.Data, bad) {
					t.Errorf("the style holds %s", bad)
				}
			}
		}
	})
}

func TestHTMLNeedsNoNetwork(t *testing.T) { checkOffline(t, render(t, fixtureInput(t))) }

// TestHTMLLinksAndLabels holds that every number leads somewhere and every label names something.
func TestHTMLLinksAndLabels(t *testing.T) {
	page := render(t, fixtureInput(t))
	ids, refs := map[string]int{}, map[string]string{}
	elements(t, page, func(n *html.Node, attr map[string]string) {
		if id := attr["id"]; id != "" {
			ids[id]++
		}
		if h := attr["href"]; h != "" {
			refs[strings.TrimPrefix(h, "#")] = n.Data
		}
		for _, id := range strings.Fields(attr["aria-labelledby"]) {
			refs[id] = n.Data
		}
		switch {
		case n.Data == "th" && attr["scope"] == "":
			t.Error("a th has no scope")
		case n.Data == "table" && (firstElement(n) == nil || firstElement(n).Data != "caption"):
			t.Error("a table has no caption")
		case n.Data == "svg" && attr["aria-hidden"] == "" && (firstElement(n) == nil || firstElement(n).Data != "title"):
			t.Error("a chart has no title")
		}
	})
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %q is used %d times", id, n)
		}
	}
	for id, from := range refs {
		if ids[id] == 0 {
			t.Errorf("<%s> refers to %q, which is not on the page", from, id)
		}
	}
}

func firstElement(n *html.Node) *html.Node {
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode {
			return c
		}
	}
	return nil
}

// evil closes every context that the page has.
const evil = `"'></style></title></text></svg><script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1)`

func TestHTMLEscapesAHostileArtifact(t *testing.T) {
	in := fixtureInput(t)
	a := in.Artifact
	a.Manifest.ID, a.Manifest.Kind, a.Manifest.Runtime, a.Manifest.HostLabel, a.Manifest.PlanHash = evil, evil, evil, evil, evil
	a.Manifest.Placement.Label, a.Manifest.Code.Commit, a.Manifest.Options = evil, evil, []string{evil}
	a.Manifest.Matrix.Name, a.Manifest.Matrix.Seed, a.Manifest.Bench = evil, evil, evil
	a.Manifest.Pins.Drift, a.Manifest.Images = []string{evil}, map[string]string{evil: evil}
	a.Manifest.LinkBackends = map[string]string{evil: evil}
	d := a.Manifest.Drivers["tcp"]
	d.SHA256, d.Describe.Facts, d.Describe.Transport, d.Describe.Encryption = evil, []string{"language " + evil, "congestion control " + evil}, evil, evil
	a.Manifest.Drivers = map[string]artifacts.DriverRef{"tcp": d, evil: {Missing: evil}}
	key, _ := json.Marshal(map[string]any{evil: evil, "kernel": evil, "sysctls": map[string]string{evil: evil}})
	a.Manifest.MeasuredOn = key
	for i := range a.Records {
		r := &a.Records[i]
		r.Reason, r.Flags, r.Profile.Rationale = evil, []string{evil}, evil
		r.Host, _ = json.Marshal(map[string]any{"unknown": []string{evil}})
	}
	for id, p := range in.Summary.Profiles {
		p.Rationale = evil
		in.Summary.Profiles[id] = p
	}
	for _, st := range in.Summary.Status {
		st.Reason = evil
	}
	a.Probes[0].Results[0].Variant = evil
	r := &in.Ratios[0]
	r.Profile, r.Metric, r.Notes, r.Ratios[0].Num, r.Ratios[0].Verdict, r.Ratios[0].Flags = evil, evil, []string{evil}, evil, evil, []string{evil}
	in.Rerun = func(string) string { return evil }
	page := render(t, in)
	checkOffline(t, page)
	if n := bytes.Count(page, []byte("alert(1)")); n < 30 {
		t.Errorf("only %d of the hostile texts are shown", n)
	}
}

// TestHTMLShowsEveryPlannedRun holds that no run is lost between the plan and the page.
func TestHTMLShowsEveryPlannedRun(t *testing.T) {
	in := fixtureInput(t)
	page := string(render(t, in))
	for _, p := range in.Artifact.Plan {
		if !strings.Contains(page, `<th scope="row">`+p.RunID) {
			t.Errorf("run %s is not on the page", p.RunID)
		}
	}
}

// TestHTMLOfNothing renders an artifact whose runs never started.
func TestHTMLOfNothing(t *testing.T) {
	in := fixtureInput(t)
	in.Artifact.Records, in.Artifact.Probes, in.Ratios, in.Rerun = nil, nil, nil, nil
	in.Artifact.Manifest = artifacts.Manifest{}
	s := *in.Summary
	s.Rows, s.Profiles = nil, nil
	for c, st := range s.Status {
		st.OK, st.NotRun, st.Reason = 0, st.Planned, "not run"
		s.Status[c] = st
	}
	in.Summary = &s
	page := render(t, in)
	checkOffline(t, page)
	if want := fmt.Sprintf("<b>%d</b> not run", in.Summary.Totals().NotRun); !bytes.Contains(page, []byte(want)) {
		t.Errorf("the page does not say %q", want)
	}
}
