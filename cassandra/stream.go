package cassandra

import (
	"fmt"
	"io"
	"sync"

	"github.com/colsst/colsst/internal/invariants"
)

// blockLength is about how much data is decompressed at a time, and
// blocksAhead how many such blocks a Stream keeps in flight beside one for each
// of its goroutines.
const (
	blockLength = 256 << 10
	blocksAhead = 2
)

// Stream is the data of a DataFile front to back: the body of an SSTable. It
// reads and decompresses ahead on other goroutines. Every chunk's checksum is
// verified before any of its bytes is seen. Chunks without data are verified
// too. It is not safe for concurrent use.
type Stream struct {
	rest  []byte // of the current block
	block *block // in use
	err   error  // sticky

	file   *DataFile
	reader *chunkReader // without goroutines
	per    int          // chunks in a block

	mu   sync.Mutex // of what is below, and of the order of full
	next int        // chunk
	skip int        // bytes of the data of that
	over bool       // the block with the end was taken

	full chan *block // being filled by the goroutines, in order
	free chan *block // back to them
	stop chan struct{}
	once sync.Once
	done sync.WaitGroup
}

type block struct {
	from, to int // chunks
	skip     int
	data     []byte
	err      error // after data
	ready    chan struct{}
}

// Stream starts at a position of the data and ends after the last chunk. With
// ahead it uses a goroutine of its own, which Close ends.
func (d *DataFile) Stream(position int64, ahead bool) (*Stream, error) {
	if ahead {
		return d.stream(position, 1)
	}
	return d.stream(position, 0)
}

// stream is Stream with so many goroutines.
func (d *DataFile) stream(position int64, workers int) (*Stream, error) {
	if position < 0 || position > d.Len() {
		return nil, fmt.Errorf("%s: position %d of %d", d.Name, position, d.Len())
	}
	r, err := newChunkReader(d)
	if err != nil {
		return nil, err
	}
	n := d.chunkLength()
	s := &Stream{file: d, next: int(position / int64(n)), skip: int(position % int64(n)), per: max(1, blockLength/n)}
	if workers == 0 {
		s.per = max(1, blockLength/16/n)
		s.reader, s.block = r, &block{}
		return s, nil
	}
	blocks := workers + blocksAhead
	s.full = make(chan *block, blocks)
	s.free = make(chan *block, blocks)
	s.stop = make(chan struct{})
	for range blocks {
		s.free <- &block{ready: make(chan struct{}, 1)}
	}
	for i := range workers {
		if i > 0 {
			if r, err = newChunkReader(d); err != nil {
				break // as many as there are will do
			}
		}
		s.done.Add(1)
		go s.run(r)
	}
	return s, nil
}

// take makes b the next block and reports whether there was one left; the last
// has no chunks.
func (s *Stream) take(b *block) bool {
	if s.over {
		return false
	}
	b.from, b.to, b.skip = s.next, min(s.next+s.per, s.file.numChunks()), s.skip
	s.next, s.skip = b.to, 0
	s.over = b.from >= b.to
	return true
}

// fill reads the chunks of a block.
func (b *block) fill(r *chunkReader) {
	b.data, b.err = b.data[:0], io.EOF
	if b.from < b.to {
		b.data, b.err = r.read(b.data, b.from, b.to)
		b.data = b.data[min(b.skip, len(b.data)):]
	}
}

// run fills blocks until the end or stop. Behind an error no block comes back,
// so it waits.
func (s *Stream) run(r *chunkReader) {
	defer s.done.Done()
	for {
		select {
		case <-s.stop:
			return
		case b := <-s.free:
			s.mu.Lock()
			some := s.take(b)
			if some {
				s.full <- b // never waits: there are only as many blocks as it holds
			}
			s.mu.Unlock()
			if !some {
				return
			}
			b.fill(r)
			b.ready <- struct{}{}
		}
	}
}

// Read is io.Reader. After an error, io.EOF included, it stays so.
func (s *Stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.advance()
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// advance takes the next block.
func (s *Stream) advance() {
	if s.full == nil {
		if s.take(s.block) {
			s.block.fill(s.reader)
		}
	} else {
		if s.block != nil {
			invariants.Mangle(s.block.data)
			s.free <- s.block
		}
		s.block = <-s.full
		<-s.block.ready
	}
	s.rest, s.err = s.block.data, s.block.err
}

// Close ends the goroutines; a second call is a no-op. Reads after it fail.
func (s *Stream) Close() error {
	s.once.Do(func() {
		if s.stop != nil {
			close(s.stop)
			s.done.Wait()
		}
		s.rest, s.err = nil, io.ErrClosedPipe
	})
	return nil
}
