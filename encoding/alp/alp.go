// Package alp encodes floats, bit for bit: as decimals, as ordered integers,
// or cut in two, after "ALP: Adaptive Lossless floating-Point Compression"
// (Afroozeh, Kuffó, Boncz, SIGMOD 2024). Every bit pattern survives, NaN
// payloads and -0.0 included.
//
// # Modes
//
// Parameter 0 is the mode of the chunk; the smallest wins. The modes Decimal
// to BitsDelta turn n floats into n integers of M bits (64 for float64, 32 for
// float32) and pack those in a frame of reference; arithmetic on them wraps
// modulo 2^M.
//
//	0 Verbatim      the values as they are, little-endian
//	1 Decimal       integers d with value = float(float64(d) * 10^f * 10^-e)
//	2 DecimalDelta  the same integers by their differences
//	3 Bits          the IEEE bits as an integer of the same order
//	4 BitsDelta     the same by their differences
//	5 Split         ALP-RD: top bits by dictionary, low bits packed
//
// The products of a decimal are two roundings to float64, and for float32 a
// third to float32; |d| is at most 2^51 for float64 and 2^24 for float32, at
// every position. The order-keeping integer of a pattern b, read as signed, is
// x = b >> z (z low bits, zero in all values of the chunk, are left out) where
// b >= 0, and where b < 0 x with its M-1-z lowest bits inverted.
//
// # Parameters
//
//	    Decimal     DecimalDelta  Bits  BitsDelta  Split
//	P1  0           v[0] >> w     0     v[0] >> w  dictionary size, 1 to 8
//	P2  base        base          base  base       0
//	P3  w, width    w             w     w          0
//	P4  patches     patches       c     c          0
//	P5  patch width (package frame)                0
//	P6  e*32+f      e*32+f        z     z          left width, 1 to 16
//	P7  exceptions  exceptions    0     0          exceptions
//
// All are 0 for Verbatim. P2 to P5 are a frame of reference (package frame),
// in which a code u[i] stands for base + s[i]. That is integer v[i] in the plain
// modes. In the delta modes v[0] is (P1 << w) + u[0], and v[i] is
// v[i-1] + base + s[i].
//
// # Body
//
// Decimal to BitsDelta, with c patches, x exceptions, b the bits of a position
// (bitpack.PositionWidth):
//
//	+-----------------------+---------------------+----------------------+
//	| packed run            | exception positions | exception values     |
//	| as bitpack draws it   | ceil(x*b/8) bytes   | x*M/8 bytes          |
//	+-----------------------+---------------------+----------------------+
//
// Positions ascend strictly; the values are the raw floats, little-endian, and
// take the place of what the integer there would give.
//
// Split, with left width L, dictionary size D, code width k = bits of D-1:
//
//	+-----------+---------------+------------+-----------+-----------+
//	| codes     | right parts   | dictionary | positions | lefts     |
//	| n*k bits  | n*(M-L) bits  | D*L bits   | x*b bits  | x*L bits  |
//	+-----------+---------------+------------+-----------+-----------+
//
// Each part is packed LSB first and ends on a whole byte. A value is
// dictionary[code] << (M-L) | right, but for exceptions the left given there.
//
// # Self-contained form
//
// AppendFloat64 and AppendFloat32 cut the values in vectors of 1,024 (the last
// one shorter), each its parameters (encoding.AppendParams) and its body. The
// count is the caller's.
package alp

import (
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

// Mode is how a chunk is encoded: parameter 0.
type Mode int64

// The modes; the package comment says what each does.
const (
	Verbatim Mode = iota
	Decimal
	DecimalDelta
	Bits
	BitsDelta
	Split
)

// String is the mode's name as annotated dumps write it.
func (m Mode) String() string {
	switch m {
	case Verbatim:
		return "verbatim"
	case Decimal:
		return "decimal"
	case DecimalDelta:
		return "decimal_delta"
	case Bits:
		return "bits"
	case BitsDelta:
		return "bits_delta"
	case Split:
		return "split"
	}
	return "unknown"
}

func (m Mode) delta() bool   { return m == DecimalDelta || m == BitsDelta }
func (m Mode) decimal() bool { return m == Decimal || m == DecimalDelta }

// The places of the parameters.
const (
	pMode = iota
	pFirst
	_ // 2 to 5: package frame
	_
	_
	_
	pPair
	pExceptions

	pDictionary = pFirst // Split
	pLeftWidth  = pPair  // Split
	pZeros      = pPair  // Bits, BitsDelta
)

const (
	part = "alp"

	maxExponent   = 18
	maxLeftWidth  = 16
	maxDictionary = 8
)

// layout is what valid parameters say about a body.
type layout struct {
	mode       Mode
	first      int64 // shifted: what the sums of the delta modes begin with
	frame      frame.Frame
	pair       pair
	zeros      uint // Bits, BitsDelta: low bits left out
	dictionary int  // Split: entries
	leftWidth  uint
	exceptions int
	len        int // bytes of the body
}

// Float64Len is the length in bytes of the body of n float64 values with
// parameters p. It checks all of p: a CorruptError says what is wrong.
func Float64Len(p *encoding.Params, n int) (int, error) {
	var l layout
	err := l.parse(p, n, 64)
	return l.len, err
}

// Float32Len is Float64Len for float32 values.
func Float32Len(p *encoding.Params, n int) (int, error) {
	var l layout
	err := l.parse(p, n, 32)
	return l.len, err
}

// LengthParams are the parameters that the length of a body depends on in the
// modes that are Framed: width, patches, patch width, exceptions.
var LengthParams = [...]int{3, 4, 5, pExceptions}

// Framed reports whether bodies of a mode are packed integers in a frame of
// reference: Decimal to BitsDelta.
func Framed(mode int64) bool { return mode >= int64(Decimal) && mode <= int64(BitsDelta) }

// FramedLen is the length in bytes of the body of n values of size bits, 64 or
// 32, in a mode that is Framed, by its LengthParams alone. ok is false if these
// are not valid; if they are, other parameters need not be.
func FramedLen(n int, size uint, p *[len(LengthParams)]int64) (length int, ok bool) {
	width, patches, high, exceptions := uint64(p[0]), uint64(p[1]), uint64(max(p[2], -p[2])), uint64(p[3])
	if uint(n) > encoding.MaxGroupRows || width > uint64(size) || patches > uint64(n) || high > uint64(size)-width ||
		(patches == 0) != (high == 0) || exceptions > uint64(n) {
		return 0, false
	}
	length = simd.PackedLen(n, uint(width))
	if patches|exceptions > 0 {
		length += bitpack.PositionsLen(int(patches), n) + simd.PackedLen(int(patches), uint(high)) +
			bitpack.PositionsLen(int(exceptions), n) + int(exceptions)*int(size/8)
	}
	return length, true
}

// parse checks the parameters of n values of m bits.
func (l *layout) parse(p *encoding.Params, n int, m uint) error {
	if n < 0 || n > encoding.MaxGroupRows {
		return encoding.Corruptf(part, "%d values in a chunk", n)
	}
	mode := Mode(p[pMode])
	*l = layout{mode: mode}
	var unused int64 // bits of parameters that must be 0
	switch mode {
	case Verbatim:
		unused = p[1] | p[2] | p[3] | p[4] | p[5] | p[6] | p[7]
	case Decimal:
		unused = p[pFirst]
	case DecimalDelta:
	case Bits:
		unused = p[pFirst] | p[pExceptions]
	case BitsDelta:
		unused = p[pExceptions]
	case Split:
		unused = p[2] | p[3] | p[4] | p[5]
	default:
		return encoding.Corruptf(part, "unknown mode %d", p[pMode])
	}
	if unused != 0 {
		return encoding.Corruptf(part, "mode %v with parameters %d", mode, *p)
	}
	if x := p[pExceptions]; x < 0 || x > int64(n) {
		return encoding.Corruptf(part, "%d exceptions among %d values", x, n)
	}
	l.exceptions = int(p[pExceptions])
	positions := bitpack.PositionsLen(l.exceptions, n)
	switch mode {
	case Verbatim:
		l.len = n * int(m/8)
		return nil
	case Split:
		d, w := p[pDictionary], p[pLeftWidth]
		if d < 1 || d > maxDictionary {
			return encoding.Corruptf(part, "dictionary of %d", d)
		}
		if w < 1 || w > maxLeftWidth {
			return encoding.Corruptf(part, "left width %d", w)
		}
		l.dictionary, l.leftWidth = int(d), uint(w)
		s := dictionary{size: l.dictionary, width: l.leftWidth}
		l.len = s.len(n, l.exceptions, m)
		return nil
	}

	f, err := frame.Load(part, p, n, m)
	if err != nil {
		return err
	}
	l.frame = f
	if w := l.frame.Width; !frame.Fits(p[pFirst], m-w) {
		return encoding.Corruptf(part, "first %d beside width %d", p[pFirst], w)
	}
	l.first = p[pFirst] << l.frame.Width
	switch c := p[pPair]; {
	case !mode.decimal():
		if c < 0 || c >= int64(m) {
			return encoding.Corruptf(part, "%d low bits left out", c)
		}
		l.zeros = uint(c)
	case c < 0 || c>>5 > maxExponent || c&31 > maxExponent:
		return encoding.Corruptf(part, "exponent and factor %d", c)
	default:
		l.pair = pairOf(c)
	}
	l.len = l.frame.Len(n) + positions + l.exceptions*int(m/8)
	return nil
}

// codeWidth is the bits of a code into a dictionary of d entries.
func codeWidth(d int) uint { return uint(bits.Len(uint(d - 1))) }
