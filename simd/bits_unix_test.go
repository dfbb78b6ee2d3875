//go:build linux

package simd_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/simd"
)

// A source that ends right before an unreadable page shows any read beyond it.
func TestUnpackBeforeUnreadablePage(t *testing.T) {
	page := syscall.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Munmap(mem)) }()
	require.NoError(t, syscall.Mprotect(mem[page:], syscall.PROT_NONE))
	levels(t, func(t *testing.T) {
		for w := uint(0); w <= 64; w++ {
			for n := 0; n <= 140; n++ {
				size := simd.PackedLen(n, w)
				src := mem[page-size : page : page]
				simd.Unpack64(make([]uint64, n), src, w)
				if w <= 32 {
					simd.Unpack32(make([]uint32, n), src, w)
				}
			}
		}
	})
}
