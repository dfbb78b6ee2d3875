package alp

// EstimateDouble is about the bytes that src takes as a page of ALP, from eight
// of its vectors: exactly those of AppendDouble where it has no more. Encodings
// of float64 without a dictionary take 8 bytes a value before compression.
//
// A writer that asks it of the values at hand may take ALP where it is less than
// that, and else parquet.ByteStreamSplit, whose pages a compressor makes
// smaller, or parquet.Plain.
func EstimateDouble(src []float64) int64 { return estimate[float64, int64](src) }

// EstimateFloat is EstimateDouble for float32, of 4 bytes a value.
func EstimateFloat(src []float32) int64 { return estimate[float32, int32](src) }

// estimated is how many vectors an estimate looks at.
const estimated = 8

func estimate[F float, I integer](src []F) int64 {
	const size = 1 << DefaultLogVectorSize
	v := vectorEncoder[F, I]{ints: make([]I, size), masks: make([]byte, 2*size/8)}
	buf := make([]byte, 0, vectorHeader(64)+size*10)
	values, bytes := 0, 0
	add := func(src []F) {
		values += len(src)
		bytes += 4 + len(v.append(buf, src))
	}
	n := vectors(len(src), DefaultLogVectorSize)
	if n <= estimated {
		for ; len(src) > size; src = src[size:] {
			add(src[:size])
		}
		if len(src) > 0 {
			add(src)
		}
		return int64(pageHeader + bytes)
	}
	for i := range estimated {
		at := (2*i + 1) * (n - 1) / (2 * estimated) * size // not the last, which may be short
		add(src[at : at+size])
	}
	return pageHeader + int64(bytes)*int64(len(src))/int64(values)
}
