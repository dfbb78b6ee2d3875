package cli

import (
	"bufio"
	"strings"

	"github.com/mattn/go-runewidth"
)

// grid prints rows of cells as aligned columns, two blanks apart. How each
// column is aligned is a letter: l or r.
type grid struct {
	align  string
	indent string
	rows   [][]string
	widths []int // of the columns so far
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// cellWidth is how wide text is on a terminal.
var cellWidth = &runewidth.Condition{}

// print prints the rows that were added, and forgets them; rows to come are as
// wide at least.
func (g *grid) print(w *bufio.Writer) error {
	if g.widths == nil {
		g.widths = make([]int, len(g.align))
	}
	for _, r := range g.rows {
		for i, c := range r {
			g.widths[i] = max(g.widths[i], cellWidth.StringWidth(c))
		}
	}
	for _, r := range g.rows {
		line := g.indent
		for i, c := range r {
			pad := strings.Repeat(" ", g.widths[i]-cellWidth.StringWidth(c))
			if g.align[i] == 'r' {
				c = pad + c
			} else {
				c += pad
			}
			if i > 0 {
				line += "  "
			}
			line += c
		}
		if _, err := w.WriteString(strings.TrimRight(line, " ") + "\n"); err != nil {
			return err
		}
	}
	g.rows = g.rows[:0]
	return nil
}
