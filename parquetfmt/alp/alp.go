// Package alp is Parquet's encoding ALP (number 10) of FLOAT and DOUBLE
// columns, for programs that use parquet-go.
package alp

import (
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// Format is the number of the encoding in Parquet's metadata.
const Format format.Encoding = 10

// Encoding is the encoding as parquet-go takes it.
type Encoding struct {
	encoding.NotSupported
}

// String returns the name of the encoding.
func (*Encoding) String() string { return "ALP" }

// Encoding returns Format.
func (*Encoding) Encoding() format.Encoding { return Format }

func init() { parquet.RegisterEncoding(new(Encoding)) }
