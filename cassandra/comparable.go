package cassandra

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

const (
	partitionerPrefix = "org.apache.cassandra.dht."

	murmur3Partitioner     = "Murmur3Partitioner"
	randomPartitioner      = "RandomPartitioner"
	byteOrderedPartitioner = "ByteOrderedPartitioner"
	localPartitioner       = "LocalPartitioner"
)

// partitioner is the class of the partitioner without its package, or "" where
// Statistics.db does not say it.
func (s *SSTable) partitioner() string {
	if s.Statistics.Validation == nil {
		return ""
	}
	return strings.TrimPrefix(s.Statistics.Validation.Partitioner, partitionerPrefix)
}

// Order is the order of partitions, as rowgroup.WithOrder takes it.
func (s *SSTable) Order() string {
	switch name := s.partitioner(); name {
	case murmur3Partitioner:
		return "murmur3"
	case randomPartitioner:
		return "random"
	case byteOrderedPartitioner:
		return "byteordered"
	case localPartitioner:
		return "local(" + s.Header.Key.Type.String() + ")"
	default:
		return "custom:" + name
	}
}

// Marks of the parts of a comparable key.
const (
	nextComponent = 0x40
	keyEnd        = 0x38
)

// comparableKey appends a partition key with its token, in the form that
// compares byte by byte as keys do (that of Cassandra 5.0).
//
//	0x40, token, 0x40, key, 0x38
//	token of Murmur3     8 bytes, the sign turned round
//	token of Random      0xff, length - 7, bytes without leading zeros;
//	                     of the empty key 0x7f
//	token of ByteOrdered the key, as key
//	key                  its bytes; n zeros as 0x00, n-1 times 0xfe, 0xff;
//	                     at the end 0x00, or 0xfe for the 0xff of zeros there
func (s *SSTable) comparableKey(dst, key []byte) ([]byte, error) {
	dst = append(dst, nextComponent)
	switch name := s.partitioner(); name {
	case murmur3Partitioner:
		dst = binary.BigEndian.AppendUint64(dst, uint64(rowgroup.Murmur3Token(key))^1<<63)
	case randomPartitioner:
		token := randomToken(key)
		if len(key) == 0 {
			dst = append(dst, 0x7f)
			break
		}
		if len(token) <= randomTokenLess {
			return nil, fmt.Errorf("%w: looking for a key with a token of %d bytes", encoding.ErrUnsupported, len(token))
		}
		dst = append(append(dst, 0xff, byte(len(token)-randomTokenLess)), token...)
	case byteOrderedPartitioner:
		dst = appendEscaped(dst, key)
	default:
		return nil, fmt.Errorf("%w: looking for a key under partitioner %q", encoding.ErrUnsupported, name)
	}
	return append(appendEscaped(append(dst, nextComponent), key), keyEnd), nil
}

// randomTokenLess is how much less than its length stands before a token of
// Random; up to that length, which is all but impossible, it has another form.
const randomTokenLess = 7

// randomToken is the magnitude of the MD5 sum, taken as a signed number.
func randomToken(key []byte) []byte {
	sum := md5.Sum(key)
	token := new(big.Int).SetBytes(sum[:])
	if sum[0] >= 0x80 {
		token.Sub(token, new(big.Int).Lsh(big.NewInt(1), 128)).Abs(token)
	}
	return token.Bytes()
}

func appendEscaped(dst, b []byte) []byte {
	for len(b) > 0 {
		i := bytes.IndexByte(b, 0)
		if i < 0 {
			i = len(b)
		}
		dst = append(dst, b[:i]...)
		b = b[i:]
		rest := bytes.TrimLeft(b, "\x00")
		zeros := len(b) - len(rest)
		b = rest
		if zeros == 0 {
			break
		}
		dst = append(dst, 0)
		for range zeros - 1 {
			dst = append(dst, 0xfe)
		}
		if len(b) == 0 {
			return append(dst, 0xfe)
		}
		dst = append(dst, 0xff)
	}
	return append(dst, 0)
}
