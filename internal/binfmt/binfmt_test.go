package binfmt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormatter(t *testing.T) {
	data := []byte{0xc5, 0x44, 0x0c, 0x01, 0x10, 0x00}
	for i := range 20 {
		data = append(data, byte(i))
	}
	data = append(data, 0xff, 0xfe)

	f := New(data)
	f.Line("block %d", 0)
	f.Bytes(4, "magic")
	f.Bytes(2, "stored length %d", 16)
	f.Bytes(0, "nothing")
	f.Bytes(20, "body")
	require.Equal(t, 2, f.Remaining())
	want := `# block 0
00-03: x c5440c01                          # magic
04-05: x 1000                              # stored length 16
06-  : x                                   # nothing
06-21: x 000102030405060708090a0b0c0d0e0f  # body
22-25: x 10111213
`
	require.Equal(t, want+"26-27: x fffe                              # not annotated\n", f.String())

	f.Bytes(5, "footer")
	require.Zero(t, f.Remaining())
	require.Equal(t, want+"26-27: x fffe                              # footer (3 bytes missing)\n", f.String())
	require.Equal(t, f.String(), f.String())
}

func TestOffsetsWiden(t *testing.T) {
	f := New(make([]byte, 101))
	f.Bytes(1, "first")
	require.Contains(t, f.String(), "000-000: x 00")
	require.Contains(t, f.String(), "097-100: x 00000000\n")
}
