package cassandra

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What is written is read, whatever pieces the bytes come in, and written
// again it is the same bytes.
func TestBodyRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := drawTable(rt, t, versions...)
		body := x.body(rt)
		for _, src := range []io.Reader{
			bytes.NewReader(body), iotest.OneByteReader(bytes.NewReader(body)), iotest.DataErrReader(bytes.NewReader(body)),
		} {
			got, err := collect(NewBodyReader(src, x.version, x.header))
			require.NoError(rt, err)
			sameEvents(rt, x.events, got)
		}
		var again bytes.Buffer
		w := NewBodyWriter(&again, x.version, x.header)
		copyEvents(rt, w, NewBodyReader(bytes.NewReader(body), x.version, x.header))
		require.Equal(rt, body, again.Bytes())
	})
}
