package cli

import (
	"bufio"
	"strings"
	"unicode/utf8"
)

// grid prints rows of cells as aligned columns, two blanks apart. How each
// column is aligned is a letter: l or r.
type grid struct {
	align  string
	indent string
	rows   [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

func (g *grid) print(w *bufio.Writer) error {
	widths := make([]int, len(g.align))
	for _, r := range g.rows {
		for i, c := range r {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range g.rows {
		line := g.indent
		for i, c := range r {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
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
	return nil
}
