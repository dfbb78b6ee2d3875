package cli

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// plotWidth is how many stretches of rows a plot tells apart.
const plotWidth = 600

// envelope is the least and greatest value of a stretch of rows.
type envelope struct {
	at     int
	lo, hi float64
}

// trace takes the value of a row for the plot.
func (c *columnStats) trace(x float64, row, rows int64) {
	if c.series == nil {
		return
	}
	at := int(float64(row) / float64(rows) * plotWidth)
	if n := len(c.series); n > 0 && c.series[n-1].at == at {
		e := &c.series[n-1]
		e.lo, e.hi = min(e.lo, x), max(e.hi, x)
		return
	}
	c.series = append(c.series, envelope{at, x, x})
}

// drawSVG draws the columns of a file one below the other: on the left the
// values over the rows, on the right their histogram.
func drawSVG(out *bufio.Writer, f *fileStats) error {
	const (
		panel, gap   = 120, 46
		left, bars   = 20, 240
		width, title = left + plotWidth + 40 + bars + 20, 40
	)
	height := title + len(f.Columns)*(panel+gap)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
		width, height, width, height)
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" fill="#fff"/>`+"\n"+`<text x="%d" y="22" font-size="15">%s, %s</text>`+"\n", left, escaped(f.File), plural(f.Rows, "row"))
	for i, c := range f.Columns {
		y := title + i*(panel+gap)
		label := c.Name + "  " + c.Type
		if c.Min != nil {
			label += ", " + *c.Min + " to " + *c.Max
		}
		fmt.Fprintf(out, `<text x="%d" y="%d">%s</text>`+"\n", left, y+12, escaped(label))
		y += 20
		half := c.hi/2 - c.lo/2 // the whole may be beyond the range of a float64
		scale := func(v float64) float64 {
			if half == 0 { // in the middle
				return float64(y) + panel/2
			}
			return float64(y+panel) - float64((v/2-c.lo/2)/half)*panel
		}
		fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" fill="#f4f6f8"/>`+"\n", left, y, plotWidth, panel)
		if len(c.series) > 0 {
			var d strings.Builder
			for _, e := range c.series {
				x := float64(left+e.at) + 0.5
				fmt.Fprintf(&d, "M%.1f %.1fV%.1f", x, scale(e.hi)-0.5, scale(e.lo)+0.5)
			}
			fmt.Fprintf(out, `<path d="%s" stroke="#1f77b4" fill="none"/>`+"\n", d.String())
		}
		drawBars(out, c, left+plotWidth+40, y, bars, panel)
	}
	_, err := fmt.Fprintln(out, "</svg>")
	return err
}

// drawBars draws the histogram of a column.
func drawBars(out io.Writer, c *columnStats, left, top, width, height int) {
	fmt.Fprintf(out, `<rect x="%d" y="%d" width="%d" height="%d" fill="#f4f6f8"/>`+"\n", left, top, width, height)
	most := int64(1)
	for _, b := range c.Bins {
		most = max(most, b.Count)
	}
	each := float64(width) / float64(max(len(c.Bins), 1))
	for i, b := range c.Bins {
		h := float64(b.Count) / float64(most) * float64(height)
		fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="#1f77b4"/>`+"\n",
			float64(left)+float64(float64(i)*each), float64(top+height)-h, max(each-1, 0.5), h)
	}
}

// escaped is text for XML.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(printable(s))) // to memory
	return b.String()
}
