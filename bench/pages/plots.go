package pages

import (
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/colsst/colsst/bench/result"
)

const (
	width  = 16 * vg.Centimeter //nolint:misspell // its name
	height = 10 * vg.Centimeter //nolint:misspell // its name
)

var (
	ourColour  = color.RGBA{R: 200, G: 60, B: 20, A: 255}
	peerColour = color.RGBA{R: 50, G: 90, B: 150, A: 255}
)

// Plot draws what l has results for, as SVG into the folder plots of dir.
func Plot(dir string, l result.List) error {
	dir = filepath.Join(dir, "plots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, data := range dataSets(l, "table", "scan_mpts_per_cpu_s") {
		of := l.Where(result.Result{Suite: "table", Data: data})
		if !slices.ContainsFunc(of, func(r result.Result) bool { return !isOurs(r.Subject) }) {
			continue
		}
		if err := sizeAgainst(filepath.Join(dir, "size-range-60-"+slug(data)+".svg"), data, "range_60_qps", "ranges of 60 rows a second", of); err != nil {
			return err
		}
		if err := sizeAgainst(filepath.Join(dir, "size-scan-"+slug(data)+".svg"), data, "scan_mpts_per_cpu_s", "million rows scanned a second", of); err != nil {
			return err
		}
		if err := ranges(filepath.Join(dir, "ranges-"+slug(data)+".svg"), data, of); err != nil {
			return err
		}
	}
	for _, data := range dataSets(l, "codecs", "decode_ns_per_value") {
		if strings.HasPrefix(data, "real ") {
			continue
		}
		if err := codec(filepath.Join(dir, "codecs-"+slug(data)+".svg"), data, l.Where(result.Result{Suite: "codecs", Data: data})); err != nil {
			return err
		}
	}
	for _, data := range dataSets(l, "import", "csv_mb_per_cpu_s") {
		if err := imported(filepath.Join(dir, "import-"+slug(data)+".svg"), data, l.Where(result.Result{Suite: "import", Data: data})); err != nil {
			return err
		}
	}
	return nil
}

func dataSets(l result.List, suite, metric string) (names []string) {
	for _, r := range l.Where(result.Result{Suite: suite, Metric: metric}) {
		if !slices.Contains(names, r.Data) {
			names = append(names, r.Data)
		}
	}
	return names
}

var notWord = regexp.MustCompile(`[^a-z0-9]+`)

func slug(s string) string {
	return strings.Trim(notWord.ReplaceAllString(strings.ToLower(strings.ReplaceAll(s, "µ", "u")), "-"), "-")
}

// point is a subject in a plane.
type point struct {
	name string
	x, y float64
	ours bool
}

// scatter draws named points, both axes by their logarithms.
func scatter(path, title, x, y string, points []point) error {
	if len(points) == 0 {
		return nil
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	logarithmic(&p.X)
	logarithmic(&p.Y)
	for _, pt := range points {
		xy := plotter.XYs{{X: pt.x, Y: pt.y}}
		dot, err := plotter.NewScatter(xy)
		if err != nil {
			return err
		}
		dot.GlyphStyle = draw.GlyphStyle{Color: colour(pt.ours), Radius: vg.Points(3), Shape: draw.CircleGlyph{}}
		label, err := named(xy, pt.name)
		if err != nil {
			return err
		}
		p.Add(dot, label)
	}
	margin(&p.X, 1.15, 1.8) // for the names, to the right
	margin(&p.Y, 1.2, 1.2)
	return p.Save(width, height, path)
}

// named is the name of a subject to the right of a point.
func named(at plotter.XYs, name string) (*plotter.Labels, error) {
	l, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: []string{name}})
	if err != nil {
		return nil, err
	}
	l.TextStyle[0].Color, l.TextStyle[0].Font.Size = colour(isOurs(name)), vg.Points(7)
	l.Offset = vg.Point{X: vg.Points(4), Y: vg.Points(-2)}
	return l, nil
}

func colour(ours bool) color.Color {
	if ours {
		return ourColour
	}
	return peerColour
}

func logarithmic(a *plot.Axis) {
	a.Scale = plot.LogScale{}
	a.Tick.Marker = ticks{}
}

// margin widens an axis by these factors.
func margin(a *plot.Axis, below, above float64) { a.Min, a.Max = a.Min/below, a.Max*above }

// ticks marks 1, 2 and 5 of each power of ten.
type ticks struct{}

func (ticks) Ticks(lo, hi float64) (t []plot.Tick) {
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= lo && v <= hi {
				t = append(t, plot.Tick{Value: v, Label: fmt.Sprintf("%g", v)})
			}
		}
	}
	return t
}

// title of a subject: with its source and level.
func title(r *result.Result) string {
	name := r.Subject
	for _, p := range []string{"source", "level"} {
		if v, ok := r.Params[p]; ok {
			name += fmt.Sprintf(", %v", v)
		}
	}
	return name
}

func isOurs(subject string) bool { return strings.HasPrefix(subject, "colsst") }

// sizeAgainst draws, at the highest level, bytes a point and a speed, one goroutine. Of our files the
// sources have one size.
func sizeAgainst(path, data, metric, name string, l result.List) error {
	var points []point
	for _, r := range l.Where(result.Result{Metric: metric}) {
		size := l.Where(result.Result{Subject: r.Subject, Metric: "bytes_per_point"})
		if r.Params["goroutines"] != nil || r.Params["level"] != nil || len(size) == 0 {
			continue
		}
		points = append(points, point{title(&r), size[0].Value, r.Value, isOurs(r.Subject)})
	}
	return scatter(path, data, "bytes a point", name, points)
}

// ranges draws the rate of queries by their length, a line a subject.
func ranges(path, data string, l result.List) error {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = data, "rows of a range", "ranges a second"
	logarithmic(&p.X)
	logarithmic(&p.Y)
	lines := map[string]plotter.XYs{}
	var names []string
	for _, r := range l {
		length, isRange := strings.CutPrefix(r.Metric, "range_")
		length, isRate := strings.CutSuffix(length, "_qps")
		rows, err := strconv.ParseFloat(length, 64)
		if !isRange || !isRate || err != nil || r.Params["goroutines"] != nil {
			continue
		}
		name := title(&r)
		if isOurs(r.Subject) && (r.Subject != "colsst/default" || r.Params["level"] != nil) {
			continue
		}
		if lines[name] == nil {
			names = append(names, name)
		}
		lines[name] = append(lines[name], plotter.XY{X: rows, Y: r.Value})
	}
	for i, name := range names {
		line, dots, err := plotter.NewLinePoints(lines[name])
		if err != nil {
			return err
		}
		line.Color = colour(isOurs(name))
		line.Dashes = []vg.Length{vg.Points(float64(1 + i%5*2)), vg.Points(float64(i % 5))}
		dots.Color, dots.Radius = line.Color, vg.Points(2)
		last := lines[name][len(lines[name])-1:]
		label, err := named(last, name)
		if err != nil {
			return err
		}
		p.Add(line, dots, label)
	}
	if len(names) == 0 {
		return nil
	}
	margin(&p.X, 1.2, 6) // for the names
	margin(&p.Y, 1.2, 1.2)
	return p.Save(width, height, path)
}

// codec draws bytes a value and the time to decode one, in blocks of 4,096.
func codec(path, data string, l result.List) error {
	var points []point
	for _, r := range l.Where(result.Result{Metric: "decode_ns_per_value", Params: result.Params{"block": 4096}}) {
		size := l.Where(result.Result{Subject: r.Subject, Metric: "bytes_per_value", Params: r.Params})
		if len(size) == 0 || size[0].Value == 0 || r.Value == 0 || r.Params["form"] == "self-contained" {
			continue
		}
		points = append(points, point{title(&r), size[0].Value, r.Value, isOurs(r.Subject)})
	}
	return scatter(path, data+", blocks of 4,096", "bytes a value", "ns to decode a value", points)
}

// imported draws bars of the rates of subjects.
func imported(path, data string, l result.List) error {
	p := plot.New()
	p.Title.Text, p.Y.Label.Text, p.Y.Min = data, "MB of CSV a second of CPU time", 0
	var names []string
	for i, r := range l.Where(result.Result{Metric: "csv_mb_per_cpu_s"}) {
		bar, err := plotter.NewBarChart(plotter.Values{r.Value}, vg.Points(40))
		if err != nil {
			return err
		}
		bar.XMin, bar.Color, bar.LineStyle.Width = float64(i), colour(isOurs(r.Subject)), 0
		p.Add(bar)
		names = append(names, r.Subject)
	}
	p.NominalX(names...)
	return p.Save(width, height, path)
}
