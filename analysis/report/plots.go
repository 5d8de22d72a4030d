package report

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"transportbench/analysis/summary"
	"transportbench/pipeline/matrix"
)

// Plot is one picture for a paper.
type Plot struct {
	Name string // file name with its ending
	Data []byte
}

// Sizes of a picture: one panel a profile, two panels a row.
const (
	panelWidth  = 12 * vg.Centimeter
	panelRow    = 0.55 * vg.Centimeter // of one column
	panelFrame  = 2.4 * vg.Centimeter  // title and axis
	panelsInRow = 2
)

// Plots draws every suite that has a number: a panel a profile, a row a column, a dot a run. format is svg or png. Equal summaries give equal
// SVG bytes; PNG depends on the font renderer of the build.
func Plots(s *summary.Summary, format string) ([]Plot, error) {
	var out []Plot
	for _, suite := range suites() {
		for _, q := range quantitiesOf(suite) {
			panels, err := panelsOf(s, suite, q)
			if err != nil {
				return nil, fmt.Errorf("plot %s: %w", suite, err)
			}
			if len(panels) == 0 {
				continue
			}
			data, err := drawPanels(panels, len(s.Variants), format)
			if err != nil {
				return nil, fmt.Errorf("plot %s: %w", suite, err)
			}
			out = append(out, Plot{suite + "-" + q.Metric + "." + format, data})
		}
	}
	return out, nil
}

func panelsOf(s *summary.Summary, suite string, q quantity) ([]*plot.Plot, error) {
	var panels []*plot.Plot
	for _, id := range s.ProfilesOf(suite) {
		p, err := s.Profile(id)
		if err != nil {
			continue // no record at all: the report says so
		}
		panel, err := newPanel(s, p, q)
		if err != nil {
			return nil, err
		}
		if panel != nil {
			panels = append(panels, panel)
		}
	}
	return panels, nil
}

// newPanel is nil when no cell of the profile has the metric.
func newPanel(s *summary.Summary, p matrix.Profile, q quantity) (*plot.Plot, error) {
	cells := cellsOf(s, p.ID)
	panel := blank(profileName(p), q.Name+", "+q.Unit)
	lo, hi := math.Inf(1), 0.0
	var names []string
	for i := range cells {
		c := cells[len(cells)-1-i] // the first column on top
		r, ok := s.Rows[c][q.Metric]
		names = append(names, fmt.Sprintf("%s  n=%d", c.Variant, r.N))
		if !ok {
			continue
		}
		lo, hi = math.Min(lo, r.Min/q.Per), math.Max(hi, r.Max/q.Per)
		if err := addRow(panel, r, q, float64(i)); err != nil {
			return nil, err
		}
	}
	if math.IsInf(lo, 1) {
		return nil, nil
	}
	scale(panel, q, lo, hi)
	panel.NominalY(names...)
	panel.Y.Min, panel.Y.Max = -0.6, float64(len(names))-0.4
	return panel, limitLine(panel, p, q)
}

// blank is a panel without rows, in a sans-serif font that fits its size.
func blank(title, x string) *plot.Plot {
	panel := plot.New()
	panel.Title.Text, panel.X.Label.Text = title, x
	for style, size := range map[*text.Style]vg.Length{
		&panel.Title.TextStyle: 10, &panel.X.Label.TextStyle: 9, &panel.X.Tick.Label: 8, &panel.Y.Tick.Label: 8,
	} {
		style.Font.Variant, style.Font.Size = "Sans", size
	}
	panel.Title.Padding = vg.Points(4)
	return panel
}

func scale(panel *plot.Plot, q quantity, lo, hi float64) {
	a := linearAxis(hi, 0, 1)
	if q.Log && lo > 0 && hi > logSpread*lo {
		a = logAxis(lo, hi, 0, 1)
		panel.X.Scale = plot.LogScale{}
		panel.X.Label.Text += " (log axis)"
	}
	panel.X.Min, panel.X.Max = a.lo, a.hi
	panel.X.Tick.Marker = plot.ConstantTicks(a.plotTicks())
}

// plotTicks are the same labels as those of the page.
func (a axis) plotTicks() []plot.Tick {
	var out []plot.Tick
	for _, t := range a.ticks() {
		out = append(out, plot.Tick{Value: t.value, Label: t.Label})
	}
	return out
}

func addRow(panel *plot.Plot, r summary.Row, q quantity, y float64) error {
	l := lookOf(r.Cell.Variant)
	c := paint(families[l.family].light)
	span, err := plotter.NewLine(plotter.XYs{{X: r.Min / q.Per, Y: y}, {X: r.Max / q.Per, Y: y}})
	if err != nil {
		return err
	}
	span.Color, span.Width = c, vg.Points(1.5)
	median, err := plotter.NewLine(plotter.XYs{{X: r.Median / q.Per, Y: y - 0.32}, {X: r.Median / q.Per, Y: y + 0.32}})
	if err != nil {
		return err
	}
	median.Width = vg.Points(1)
	points := make(plotter.XYs, len(r.Values))
	for i, v := range r.Values {
		points[i] = plotter.XY{X: v / q.Per, Y: y - 0.12*stagger(i, len(r.Values))}
	}
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(2.2), Shape: glyphs[l.shape]}
	panel.Add(span, median, dots)
	return nil
}

// glyphs correspond to shapes.
var glyphs = [...]draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.CrossGlyph{}}

// limitLine draws the window ceiling where a delay is injected.
func limitLine(panel *plot.Plot, p matrix.Profile, q quantity) error {
	limit, ok := ceilingOf(p)
	if !ok || q.Metric != summary.Throughput {
		return nil
	}
	x := limit / q.Per
	if panel.X.Max < x {
		scale(panel, q, x, x)
	}
	line, err := plotter.NewLine(plotter.XYs{{X: x, Y: panel.Y.Min}, {X: x, Y: panel.Y.Max}})
	if err != nil {
		return err
	}
	line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	panel.X.Label.Text += fmt.Sprintf("; dashed: window ceiling %.2f", x)
	panel.Add(line)
	return nil
}

// drawPanels puts panels on one canvas.
func drawPanels(panels []*plot.Plot, columns int, format string) ([]byte, error) {
	across := min(panelsInRow, len(panels))
	down := (len(panels) + across - 1) / across
	width, height := panelWidth*vg.Length(across), (panelFrame+panelRow*vg.Length(columns))*vg.Length(down)
	canvas, err := draw.NewFormattedCanvas(width, height, format)
	if err != nil {
		return nil, err
	}
	dc := draw.New(canvas)
	tiles := draw.Tiles{Rows: down, Cols: across, PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter, PadTop: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter, PadLeft: 2 * vg.Millimeter}
	for i, p := range panels {
		p.Draw(tiles.At(dc, i%across, i/across))
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	if format == "svg" {
		return zeroResidues(b.Bytes()), nil
	}
	return b.Bytes(), nil
}

// Coordinates of a picture, and those of them that differ from 0 by what is left of a subtraction.
var (
	coordinates = regexp.MustCompile(`(?:d|x|y|transform)="[^"]*"`)
	residues    = regexp.MustCompile(`-?[0-9.]+e-[0-9]+`)
)

// zeroResidues writes 0 for coordinates such as -5.7e-14: processors that fuse multiply and add leave another rest.
func zeroResidues(svg []byte) []byte {
	return coordinates.ReplaceAllFunc(svg, func(attr []byte) []byte { return residues.ReplaceAllLiteral(attr, []byte("0")) })
}

// paint reads #rrggbb.
func paint(hex string) color.Color {
	v, err := strconv.ParseUint(hex[1:], 16, 32)
	if err != nil {
		return color.Black
	}
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}
