package cli

import (
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progress is a bar on stderr; nil, where stderr is no terminal, shows nothing.
type progress struct {
	all *mpb.Progress
	bar *mpb.Bar
}

// newProgress begins a bar of total bytes or rows.
func (t *tool) newProgress(name string, total int64, bytes bool) *progress {
	if t.quiet || t.noProgress || total <= 0 || !isTerminal(t.cmd.ErrOrStderr()) {
		return nil
	}
	p := &progress{all: mpb.NewWithContext(t.ctx(), mpb.WithOutput(t.cmd.ErrOrStderr()), mpb.WithAutoRefresh())}
	counters, speed := decor.CountersNoUnit("% d / % d"), decor.AverageSpeed(0, "% .0f rows/s")
	if bytes {
		counters, speed = decor.CountersKibiByte("% .1f / % .1f"), decor.AverageSpeed(decor.SizeB1024(0), "% .1f")
	}
	p.bar = p.all.AddBar(total,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(name+" "), counters),
		mpb.AppendDecorators(speed, decor.Name(" "), decor.AverageETA(decor.ET_STYLE_GO)))
	return p
}

func (p *progress) add(n int64) {
	if p != nil {
		p.bar.IncrInt64(n)
	}
}

// end removes the bar.
func (p *progress) end() {
	if p != nil {
		p.bar.Abort(true)
		p.all.Wait()
	}
}
