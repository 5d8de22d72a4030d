package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

func labels(ts []tick) string {
	var out []string
	for _, t := range ts {
		out = append(out, t.Label)
	}
	return strings.Join(out, " ")
}

func TestAxisTicks(t *testing.T) {
	for _, c := range []struct {
		name string
		axis axis
		want string
	}{
		{"linear", linearAxis(160, 0, 100), "0 20 40 60 80 100 120 140 160"},
		{"linear small", linearAxis(0.13, 0, 100), "0 0.02 0.04 0.06 0.08 0.1 0.12 0.14"},
		{"linear thousands", linearAxis(19058, 0, 100), "0 5,000 10,000 15,000 20,000"},
		{"linear nothing", linearAxis(0, 0, 100), "0 0.2 0.4 0.6 0.8 1"},
		{"linear no number", linearAxis(math.NaN(), 0, 100), "0 0.2 0.4 0.6 0.8 1"},
		{"log", logAxis(7, 300, 0, 100), "5 10 20 50 100 200 500"},
		{"log long", logAxis(0.05, 1000, 0, 100), "0.1 1 10 100 1,000"},
		{"log one value", logAxis(5, 5, 0, 100), "5 10"},
		{"log from nothing", logAxis(0, 10, 0, 100), "0.00001 0.0001 0.001 0.01 0.1 1 10"},
	} {
		if got := labels(c.axis.ticks()); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestAxisStaysInside holds for any value: the coordinate is a number between the ends, and order is kept.
func TestAxisStaysInside(t *testing.T) {
	for _, a := range []axis{linearAxis(50, 10, 90), logAxis(0.5, 700, 10, 90), logAxis(0.5, 700, 90, 10)} {
		before := math.Inf(-1)
		for _, v := range []float64{math.Inf(-1), -3, 0, 0.1, 1, 7, 49, 1e6, math.Inf(1)} {
			x, err := strconv.ParseFloat(a.at(v), 64)
			if err != nil || x < 10 || x > 90 {
				t.Errorf("%v lands at %q", v, a.at(v))
			}
			if a.from > a.to {
				x = -x
			}
			if x < before {
				t.Errorf("%v lands before a smaller value", v)
			}
			before = x
		}
	}
}

// luminance is the relative luminance of WCAG 2.2.
func luminance(t *testing.T, hex string) float64 {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil || len(hex) != 7 {
		t.Fatalf("colour %q is not #rrggbb", hex)
	}
	part := func(shift uint) float64 {
		c := float64(v>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// TestColoursCanBeSeen holds the contrast of graphics, 3:1, on both backgrounds.
func TestColoursCanBeSeen(t *testing.T) {
	contrast := func(a, b string) float64 {
		x, y := luminance(t, a), luminance(t, b)
		return (math.Max(x, y) + 0.05) / (math.Min(x, y) + 0.05)
	}
	for _, f := range families {
		if c := contrast(f.light, "#ffffff"); c < 3 {
			t.Errorf("%s on white: contrast %.2f", f.class, c)
		}
		if c := contrast(f.dark, "#16181b"); c < 3 {
			t.Errorf("%s on dark: contrast %.2f", f.class, c)
		}
	}
}

// TestColumnsLookDifferent holds for all columns of the built-in matrices at once.
func TestColumnsLookDifferent(t *testing.T) {
	seen := map[look]string{}
	for _, v := range strings.Fields("tcp raknet-send raknet-batch raknet-send-policy raknet-batch-policy raknet-batch-full kcp-c quic-go udp udp-gso tcp-batch quic-batch kcp-c-batch tcp-rto30 quic-go-nogso kcp-go enet") {
		l := lookOf(v)
		if other, ok := seen[l]; ok {
			t.Errorf("%s looks like %s", v, other)
		}
		seen[l] = v
	}
	if l := lookOf("mine"); l.Class == "" || l.Marker == "" {
		t.Error("a column of a user's own has no look")
	}
}

func TestPlotsAreStableXML(t *testing.T) {
	first, err := Plots(fixture(t), "svg")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Plots(fixture(t), "svg")
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 6 || len(again) != 6 {
		t.Fatalf("%d and %d plots, want one for each of two throughputs and four percentiles", len(first), len(again))
	}
	for i, p := range first {
		if !bytes.Equal(p.Data, again[i].Data) {
			t.Errorf("%s has other bytes the second time", p.Name)
		}
		if !bytes.Contains(p.Data, []byte("n=3")) && !bytes.Contains(p.Data, []byte("n=5")) {
			t.Errorf("%s does not say how many runs it shows", p.Name)
		}
		for d := xml.NewDecoder(bytes.NewReader(p.Data)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
		}
	}
	golden(t, first[0].Name, first[0].Data)
	if _, err := Plots(fixture(t), "gif"); err == nil {
		t.Error("an unknown format was accepted")
	}
}

// TestWrapped holds the indent and the width, and that no word is lost.
func TestWrapped(t *testing.T) {
	text := strings.Repeat("a reason of µ words ", 20) + strings.Repeat("x", 150)
	var b bytes.Buffer
	wrapped(&b, "[1] ", text)
	var words []string
	for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if n := len([]rune(line)); n > wrapAt && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("line %d has %d characters", i, n)
		}
		if i > 0 && !strings.HasPrefix(line, "    ") {
			t.Errorf("line %d is not indented: %q", i, line)
		}
		words = append(words, strings.Fields(strings.TrimPrefix(line, "[1] "))...)
	}
	if got := strings.Join(words, " "); got != strings.Join(strings.Fields(text), " ") {
		t.Errorf("words changed: %q", got)
	}
}

func TestZeroResidues(t *testing.T) {
	in := `<path d="M5.6693,-5.6843e-14L331.65,1e-9Z"/><text x="1.2e-12" y="4">column 1e-9 of 2</text>`
	want := `<path d="M5.6693,0L331.65,0Z"/><text x="0" y="4">column 1e-9 of 2</text>`
	if got := string(zeroResidues([]byte(in))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
