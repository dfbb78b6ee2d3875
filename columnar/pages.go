package columnar

import (
	"sync"
	"sync/atomic"

	"github.com/colsst/colsst/encoding"
)

// pageBytes is how many bytes of index pages a Reader keeps by default.
const pageBytes = 16 << 20

// slot is where a page is kept once it was read: in the page that refers to
// it, or in the Reader.
type slot struct{ atomic.Pointer[page] }

// pageCache bounds the index pages that slots keep: beyond its limit those go
// that were not used since the hand of the clock passed them last (Corbató,
// "A Paging Experiment with the Multics System", 1968). A page that is used is
// not locked: whoever has it keeps it.
type pageCache struct {
	limit int64

	mu    sync.Mutex
	size  int64
	clock []keptPage
	hand  int
}

type keptPage struct {
	page *page
	in   *slot
	size int64
}

// add keeps p in its slot and makes room for it.
func (c *pageCache) add(in *slot, p *page) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !in.CompareAndSwap(nil, p) {
		return // another was faster
	}
	k := keptPage{p, in, p.memory()}
	c.size += k.size
	for c.size > c.limit && len(c.clock) > 0 {
		c.hand %= len(c.clock)
		old := c.clock[c.hand]
		if old.page.used.Swap(false) {
			c.hand++
			continue
		}
		old.in.CompareAndSwap(old.page, nil)
		c.size -= old.size
		last := len(c.clock) - 1
		c.clock[c.hand] = c.clock[last]
		c.clock[last] = keptPage{}
		c.clock = c.clock[:last]
	}
	c.clock = append(c.clock, k)
}

// clear lets all pages go.
func (c *pageCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.clock {
		k.in.Store(nil)
	}
	c.clock, c.size, c.hand = nil, 0, 0
}

// node is an index page: where it lies, its level, and where it is kept.
type node struct {
	in    *slot
	at    ref
	level int
}

// root is the root of the partition index.
func (r *Reader) root() node { return node{&r.rootPage, r.foot.root, r.foot.rootLevel} }

// page is the page at n, read by w, which must be of this index and what entry
// i of parent says, unless that is nil.
func (r *Reader) page(w *window, n node, index int, parent *page, i int) (*page, error) {
	if p := n.in.Load(); p != nil {
		if !p.used.Load() {
			p.used.Store(true)
		}
		return p, nil
	}
	h, body, err := w.item(n.at, kindIndex)
	if err == nil && (h.fields[0] != uint64(index) || h.fields[1] != uint64(n.level)) {
		err = encoding.Corruptf(indexPart, "of index %d, level %d where %d, %d belongs", h.fields[0], h.fields[1], index, n.level)
	}
	var p *page
	if err == nil {
		if w.parser == nil {
			w.parser = new(pageParser)
		}
		p, err = w.parser.page(r.foot.schema, &h, n.at.off, body)
	}
	if err == nil && parent != nil {
		err = p.checkParent(parent, i, &r.order)
	}
	if err != nil {
		return nil, r.file.at(err, indexPart, n.at.off)
	}
	r.pages.add(n.in, p)
	return p, nil
}

// cursor walks the leaves of one index.
type cursor struct {
	r     *Reader
	win   *window // to read pages with
	index int
	path  []place // from the root to a leaf
	pages int64   // pages gone into
	few   [4]place
}

type place struct {
	page *page
	i    int
}

// seek goes to the leaf that choose leads to: the entry of a page to descend
// into, or one out of range if there is none.
func (c *cursor) seek(root node, choose func(*page) int) (bool, error) {
	c.path = c.few[:0]
	return c.descend(root, choose)
}

func (c *cursor) descend(n node, choose func(*page) int) (bool, error) {
	for {
		var above place
		if k := len(c.path); k > 0 {
			above = c.path[k-1]
		}
		p, err := c.r.page(c.win, n, c.index, above.page, above.i)
		if err != nil {
			return false, err
		}
		c.pages++
		i := choose(p)
		if i < 0 || i >= p.len() {
			if above.page != nil {
				return false, c.r.file.at(encoding.Corruptf(indexPart, "its entries are not what the page above says"), indexPart, n.at.off)
			}
			return false, nil
		}
		c.path = append(c.path, place{p, i})
		if n.level == 0 {
			return true, nil
		}
		n = p.child(i)
	}
}

func firstEntry(*page) int  { return 0 }
func lastEntry(p *page) int { return p.len() - 1 }

// step goes to the next leaf, or with -1 to the one before. What it refers to
// lies behind, or before, what the leaf left refers to; so steps end.
func (c *cursor) step(dir int) (bool, error) {
	if len(c.path) == 0 {
		return false, nil
	}
	left, i := c.leaf()
	from := left.refs[i].off
	ok, err := c.walk(dir)
	if err != nil || !ok {
		return false, err
	}
	at, i := c.leaf()
	if off := at.refs[i].off; off == from || (off > from) != (dir > 0) {
		return false, c.r.file.at(encoding.Corruptf(indexPart, "an entry for %d follows one for %d", off, from), indexPart, off)
	}
	return true, nil
}

func (c *cursor) walk(dir int) (bool, error) {
	choose := firstEntry
	if dir < 0 {
		choose = lastEntry
	}
	for k := len(c.path) - 1; k >= 0; k-- {
		at := &c.path[k]
		if at.i += dir; at.i >= 0 && at.i < at.page.len() {
			c.path = c.path[:k+1]
			if at.page.level == 0 {
				return true, nil
			}
			return c.descend(at.page.child(at.i), choose)
		}
	}
	return false, nil
}

// leaf is the page and entry where the cursor stands.
func (c *cursor) leaf() (*page, int) {
	at := c.path[len(c.path)-1]
	return at.page, at.i
}
