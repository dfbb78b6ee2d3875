package textfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/colsst/colsst/rowgroup"
)

// pieceBytes is how much text one job takes at a time.
const pieceBytes = 512 << 10

// pieces parses a text in several goroutines:
//
//	reader -> piece -> job   \
//	          piece -> job    > in the order of the text -> next
//	          piece -> job   /
//
// The reader cuts the text where records end, so that each piece is parsed as
// the whole would be; only whether a piece follows the one before it is left
// to next. A piece with an error ends the text.
type pieces struct {
	in   *input
	jobs int
	size int // bytes of a piece, more where a record is longer

	begun   bool
	order   chan *piece // as they stand in the text
	todo    chan *piece // for the jobs
	free    chan *piece
	quit    chan struct{}
	stopped sync.Once
	running sync.WaitGroup

	current *piece
	served  int // batches of current that next has yielded
}

// piece is a part of the text and what becomes of it.
type piece struct {
	text    []byte
	line    int64 // of its first byte
	batches []*rowgroup.Batch
	lines   [][2]int64 // of the first and last rows of batches
	used    int        // batches that hold rows
	err     error      // what ended it; io.EOF at its end
	tallies tallies
	done    chan struct{}
}

func newPieces(in *input, jobs int) *pieces {
	return &pieces{in: in, jobs: jobs, size: pieceBytes}
}

func (p *pieces) start(r *Reader) {
	n := p.jobs + 2
	p.order, p.todo, p.free = make(chan *piece, n), make(chan *piece, n), make(chan *piece, n)
	p.quit = make(chan struct{})
	for range n {
		p.free <- &piece{done: make(chan struct{}, 1)}
	}
	p.running.Add(p.jobs + 1)
	go p.read()
	for range p.jobs {
		go p.parse(&Reader{name: r.name, null: r.null, builder: r.builder.job()})
	}
}

// stop ends the goroutines and waits for them.
func (p *pieces) stop() {
	if p.begun {
		p.stopped.Do(func() { close(p.quit) })
		p.running.Wait()
	}
}

// read cuts the input into pieces.
func (p *pieces) read() {
	defer p.running.Done()
	defer close(p.todo)
	defer close(p.order)
	var rest []byte // behind the last cut
	line := p.in.line
	for end := false; !end; {
		var c *piece
		select {
		case c = <-p.free:
		case <-p.quit:
			return
		}
		c.text = append(c.text[:0], rest...)
		var err error
		cut := 0
		for want := p.size; cut == 0 && err == nil; want *= 2 {
			c.text, err = readFull(p.in.r, c.text, want)
			if cut = p.in.cut(c.text); err != nil || len(c.text) >= maxRecord {
				cut, end = len(c.text), true
				break
			}
		}
		rest = append(rest[:0], c.text[cut:]...)
		c.text, c.line, c.err = c.text[:cut], line, nil
		line += int64(bytes.Count(c.text, []byte{'\n'}))
		if err != nil && !errors.Is(err, io.EOF) {
			c.err = err
		}
		// Both channels have room for all pieces there are.
		p.order <- c
		p.todo <- c
	}
}

// readFull appends from r until buf has n bytes.
func readFull(r io.Reader, buf []byte, n int) ([]byte, error) {
	if cap(buf) < n {
		buf = append(make([]byte, 0, n), buf...)
	}
	for empty := 0; len(buf) < n; {
		k, err := r.Read(buf[len(buf):n])
		buf = buf[:len(buf)+k]
		if err != nil {
			return buf, err
		}
		if k > 0 {
			empty = 0
		} else if empty++; empty == 100 {
			return buf, io.ErrNoProgress
		}
	}
	return buf, nil
}

// parse parses pieces.
func (p *pieces) parse(job *Reader) {
	defer p.running.Done()
	for c := range p.todo {
		select {
		case <-p.quit:
			return
		default:
		}
		job.piece(c, p.in)
		c.done <- struct{}{}
	}
}

// piece parses c.
func (r *Reader) piece(c *piece, s splitter) {
	readErr := c.err
	r.rows, r.err = s.open(c.text, c.line), nil
	r.builder.restart()
	c.used, c.lines = 0, c.lines[:0]
	for c.err = nil; c.err == nil; {
		if c.used == len(c.batches) {
			c.batches = append(c.batches, rowgroup.NewBatch(r.builder.schema))
		}
		c.err = r.read(c.batches[c.used])
		if r.builder.row > 0 {
			c.used++
			c.lines = append(c.lines, [2]int64{r.builder.firstLine, r.builder.lastLine})
		}
	}
	c.tallies, r.builder.tallies = r.builder.tallies, tallies{}
	if b, ok := r.rows.(interface{ blankLines() int64 }); ok {
		c.tallies.blank = b.blankLines()
	}
	if readErr != nil && errors.Is(c.err, io.EOF) {
		c.err = fmt.Errorf("%s: %w", r.name, readErr)
	}
}

// next fills b with the batch that is next in the text.
func (p *pieces) next(r *Reader, b *rowgroup.Batch) error {
	if !p.begun {
		p.begun = true
		p.start(r)
	}
	r.builder.row = 0
	for {
		if p.current == nil {
			c, more := <-p.order
			if !more {
				return io.EOF
			}
			<-c.done
			p.current, p.served = c, 0
			r.builder.tallies.add(&c.tallies)
		}
		c := p.current
		if i := p.served; i < c.used {
			*b, *c.batches[i] = *c.batches[i], *b
			p.served++
			return r.builder.follow(b, r.name, c.lines[i][0], c.lines[i][1])
		}
		if !errors.Is(c.err, io.EOF) {
			return c.err
		}
		p.current = nil
		p.free <- c
	}
}
