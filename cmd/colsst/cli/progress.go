package cli

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress is a bar on stderr; nil, where stderr is no terminal, shows nothing.
// The total is of bytes read or of rows.
type progress struct {
	all     *mpb.Progress
	bar     *mpb.Bar
	byBytes bool
	started time.Time
	read    atomic.Int64 // bytes
	passed  atomic.Int64 // rows
	written atomic.Int64 // bytes
	ended   bool
}

// newProgress begins a bar of total bytes or rows.
func (t *tool) newProgress(name string, total int64, bytes bool) *progress {
	if t.quiet || t.noProgress || total <= 0 || !isTerminal(t.cmd.ErrOrStderr()) {
		return nil
	}
	p := &progress{all: mpb.NewWithContext(t.ctx(), mpb.WithOutput(t.cmd.ErrOrStderr()), mpb.WithAutoRefresh()), byBytes: bytes, started: time.Now()}
	counters := decor.CountersNoUnit("%d / %d rows")
	if bytes {
		counters = decor.CountersKibiByte("% .1f / % .1f")
	}
	p.bar = p.all.AddBar(total,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(printable(name)+" "), counters),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return p.text() }), decor.AverageETA(decor.ET_STYLE_GO), decor.Name(" left")))
	return p
}

// text is the speed and what became of the bytes so far.
func (p *progress) text() string {
	rows, seconds := p.passed.Load(), time.Since(p.started).Seconds()
	text := strings.Replace(humanize.SIWithDigits(float64(rows)/seconds, 1, ""), " ", "", 1) + " rows/s, "
	switch out := p.written.Load(); {
	case out == 0 || rows == 0:
	case p.byBytes:
		text += fmt.Sprintf("%.1f:1, ", float64(p.read.Load())/float64(out))
	default:
		text += fmt.Sprintf("%.2f bytes/row, ", float64(out)/float64(rows))
	}
	return text
}

// bytes tells of bytes that were read.
func (p *progress) bytes(n int64) {
	if p != nil {
		p.read.Add(n)
		if p.byBytes {
			p.bar.IncrInt64(n)
		}
	}
}

// rows tells of rows that have passed.
func (p *progress) rows(n int64) {
	if p != nil {
		p.passed.Add(n)
		if !p.byBytes {
			p.bar.IncrInt64(n)
		}
	}
}

// out tells how many bytes were written.
func (p *progress) out(n int64) {
	if p != nil {
		p.written.Store(n)
	}
}

// end removes the bar.
func (p *progress) end() {
	if p != nil && !p.ended {
		p.ended = true
		p.bar.Abort(true)
		p.all.Wait()
	}
}
