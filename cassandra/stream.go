package cassandra

import (
	"fmt"
	"io"
	"sync"

	"github.com/colsst/colsst/internal/invariants"
)

// blockLength is about how much data is decompressed at a time, and
// blocksAhead how many such blocks a Stream keeps in flight.
const (
	blockLength = 256 << 10
	blocksAhead = 3
)

// Stream is the data of a DataFile front to back: the body of an SSTable. It
// reads and decompresses ahead on another goroutine. Every chunk's checksum is
// verified before any of its bytes is seen. Chunks without data are verified
// too. It is not safe for concurrent use.
type Stream struct {
	rest  []byte // of the current block
	block *block // in use
	err   error  // sticky

	// Without goroutine: the reader and the next chunk.
	fill func(*block) error

	full chan *block // from the goroutine, in order
	free chan *block // back to it
	stop chan struct{}
	once sync.Once
	done sync.WaitGroup
}

type block struct {
	data []byte
	err  error // after data
}

// Stream starts at a position of the data and ends after the last chunk. With
// ahead it uses a goroutine of its own, which Close ends.
func (d *DataFile) Stream(position int64, ahead bool) (*Stream, error) {
	if position < 0 || position > d.Len() {
		return nil, fmt.Errorf("%s: position %d of %d", d.Name, position, d.Len())
	}
	r, err := newChunkReader(d)
	if err != nil {
		return nil, err
	}
	n := d.chunkLength()
	next, skip := int(position/int64(n)), int(position%int64(n))
	per := max(1, blockLength/n)
	if !ahead {
		per = max(1, blockLength/16/n)
	}
	s := &Stream{}
	s.fill = func(b *block) error {
		b.data = b.data[:0]
		if next >= d.numChunks() {
			return io.EOF
		}
		to := min(next+per, d.numChunks())
		var err error
		b.data, err = r.read(b.data, next, to)
		next = to
		b.data = b.data[min(skip, len(b.data)):]
		skip = 0
		return err
	}
	if !ahead {
		s.block = &block{}
		return s, nil
	}
	s.full = make(chan *block, blocksAhead)
	s.free = make(chan *block, blocksAhead)
	s.stop = make(chan struct{})
	for range blocksAhead {
		s.free <- &block{}
	}
	s.done.Add(1)
	go s.run()
	return s, nil
}

// run fills blocks until the end, an error or stop.
func (s *Stream) run() {
	defer s.done.Done()
	for {
		select {
		case <-s.stop:
			return
		case b := <-s.free:
			b.err = s.fill(b)
			last := b.err != nil
			s.full <- b // never waits: there are only as many blocks as it holds
			if last {
				return
			}
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
		s.err = s.fill(s.block)
		s.rest = s.block.data
		return
	}
	if s.block != nil {
		invariants.Mangle(s.block.data)
		s.free <- s.block
	}
	s.block = <-s.full
	s.rest, s.err = s.block.data, s.block.err
}

// Close ends the goroutine; a second call is a no-op. Reads after it fail.
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
