package inline

import "github.com/colsst/colsst/encoding"

// PlainLen is the length of the body of n values of size bytes each, in an
// encoding without parameters. It fails if *p has any.
func PlainLen(part string, p *encoding.Params, n, size int) (int, error) {
	if *p != (encoding.Params{}) {
		return 0, encoding.Corruptf(part, "parameters %v, want none", *p)
	}
	if n < 0 {
		return 0, encoding.Corruptf(part, "%d values", n)
	}
	return n * size, nil
}

// CutPlain splits src behind such a body.
func CutPlain(part string, src []byte, n, size int) (body, rest []byte, err error) {
	if len(src)/size < n {
		return nil, nil, encoding.Corruptf(part, "%d bytes for %d values of %d", len(src), n, size)
	}
	return src[:n*size], src[n*size:], nil
}
