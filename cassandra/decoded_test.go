package cassandra

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// The contents of the small ones of the real SSTables, as an independent
// decoder found them, event by event.
func TestDecoded(t *testing.T) {
	compared := 0
	for _, f := range fixtures(t) {
		if f.Decoded == "" {
			continue
		}
		t.Run(f.Path, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(fixtureDir, f.Decoded))
			require.NoError(t, err)
			dec := json.NewDecoder(bytes.NewReader(text))
			dec.UseNumber()
			var want struct {
				File, Version, Format string
				Partitions            []any
			}
			require.NoError(t, dec.Decode(&want))
			s, err := Open(f.file())
			require.NoError(t, err)
			defer s.Close()
			require.Equal(t, want.Version, string(s.Version))
			require.Equal(t, want.Format, s.Version.Format())
			got := dump(t, s)
			require.Equal(t, len(want.Partitions), len(got))
			for i := range got {
				require.Equal(t, normal(want.Partitions[i]), normal(got[i]))
			}
			compared++
		})
	}
	require.Equal(t, 119, compared)
}

type object = map[string]any

// normal brings numbers into one form: integers as they are, others as the
// float64 they stand for.
func normal(v any) any {
	switch v := v.(type) {
	case object:
		for k, x := range v {
			v[k] = normal(x)
		}
		return v
	case []any:
		for i, x := range v {
			v[i] = normal(x)
		}
		return v
	case json.Number:
		if i, ok := new(big.Int).SetString(v.String(), 10); ok {
			return i.String()
		}
		f, _ := v.Float64()
		return normal(f)
	case int64:
		return big.NewInt(v).String()
	case int:
		return big.NewInt(int64(v)).String()
	case int32:
		return big.NewInt(int64(v)).String()
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 { // 1.0 is written as it is, or as 1
			return big.NewInt(int64(v)).String()
		}
		return v
	}
	return v
}

// dump is the content of an SSTable in the form of the decoded files.
func dump(t *testing.T, s *SSTable) (partitions []object) {
	r, err := s.Scan()
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	var p object
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return partitions
		}
		require.NoError(t, err)
		switch e {
		case PartitionBegin:
			h := r.Partition()
			p = object{
				"pos": h.Position, "key": keyJSON(t, s.Header.Key.Type, h.Key), "key_hex": hex.EncodeToString(h.Key),
				"deletion": deletionJSON(h.Deletion), "static": nil, "items": []any{},
			}
			partitions = append(partitions, p)
		case StaticRow:
			p["static"] = object{"type": "static", "cells": rowJSON(t, s.Header, s.Header.Static, r.Row())["cells"]}
		case ClusteringRow:
			p["items"] = append(p["items"].([]any), rowJSON(t, s.Header, s.Header.Regular, r.Row()))
		case RangeMarker:
			m := r.Marker()
			o := object{"type": "marker", "kind": map[rowgroup.BoundKind]string{
				rowgroup.ExclEnd: "EXCL_END", rowgroup.InclStart: "INCL_START", rowgroup.ExclEndInclStart: "EXCL_END_INCL_START",
				rowgroup.InclEndExclStart: "INCL_END_EXCL_START", rowgroup.InclEnd: "INCL_END", rowgroup.ExclStart: "EXCL_START",
			}[m.Kind], "values": valuesJSON(t, s.Header.Clustering, m.Values)}
			if m.Kind.Closes() {
				o["close"] = deletionJSON(m.Close)
			}
			if m.Kind.Opens() {
				o["open"] = deletionJSON(m.Open)
			}
			p["items"] = append(p["items"].([]any), o)
		}
	}
}

func keyJSON(t *testing.T, typ rowgroup.Type, key []byte) any {
	if typ.Kind != rowgroup.KindComposite {
		return valueJSON(t, typ, key)
	}
	c := cursor{b: key}
	parts := []any{}
	for _, a := range typ.Args {
		parts = append(parts, valueJSON(t, a, c.sbytes()))
		require.Zero(t, c.u8())
	}
	require.False(t, c.short)
	return parts
}

func deletionJSON(d rowgroup.Deletion) any {
	if d.Live() {
		return nil
	}
	return object{"marked": d.MarkedForDeleteAt, "ldt": d.LocalDeletionTime}
}

func valuesJSON(t *testing.T, cols []Column, values [][]byte) []any {
	list := []any{}
	for i, v := range values {
		if v == nil {
			list = append(list, nil)
			continue
		}
		list = append(list, valueJSON(t, cols[i].Type, v))
	}
	return list
}

func rowJSON(t *testing.T, h *Header, cols []Column, row *Row) object {
	o := object{"type": "row", "ck": valuesJSON(t, h.Clustering, row.Clustering)}
	if row.Liveness != rowgroup.LivenessNone {
		l := object{"ts": row.Timestamp}
		if row.Liveness != rowgroup.LivenessLive {
			l["ttl"], l["ldt"] = row.TTL, row.ExpirationTime
		}
		o["liveness"] = l
	}
	if row.HasDeletion {
		o["deletion"] = deletionJSON(row.Deletion)
	}
	list := []any{}
	for i := range row.Cells {
		c := &row.Cells[i]
		list = append(list, cellJSON(t, cols[c.Column], c))
	}
	for i := range row.Complex {
		x := &row.Complex[i]
		cells := []any{}
		for k := range x.Cells {
			cells = append(cells, cellJSON(t, cols[x.Column], &x.Cells[k]))
		}
		list = append(list, object{"name": cols[x.Column].Name, "complex_deletion": deletionJSON(x.Deletion), "cells": cells})
	}
	o["cells"] = list
	return o
}

func cellJSON(t *testing.T, col Column, c *Cell) object {
	typ := col.Type
	o := object{"name": col.Name, "ts": c.Timestamp}
	if col.Complex {
		o["path"] = valueJSON(t, col.PathType(), c.Path)
		typ = typ.Args[len(typ.Args)-1]
	}
	switch {
	case c.Kind == rowgroup.CellTombstone:
		o["ldt"], o["deleted"] = c.LocalDeletionTime, true
		require.Nil(t, c.Value)
		return o
	case c.Kind == rowgroup.CellExpiring:
		o["ttl"], o["ldt"] = c.TTL, c.LocalDeletionTime
	}
	if col.Type.Kind == rowgroup.KindSet {
		require.Empty(t, c.Value)
		o["value"] = nil
		return o
	}
	o["value"] = valueJSON(t, typ, c.Value)
	return o
}

func valueJSON(t *testing.T, typ rowgroup.Type, b []byte) any {
	for typ.Kind == rowgroup.KindFrozen || typ.Kind == rowgroup.KindReversed {
		typ = typ.Args[0]
	}
	if len(b) == 0 {
		switch typ.Kind {
		case rowgroup.KindText, rowgroup.KindASCII, rowgroup.KindBlob:
			return ""
		}
		name := typ.Marshal()
		return object{"$empty": name[len("org.apache.cassandra.db.marshal."):]}
	}
	u := func(n int) uint64 {
		require.Len(t, b, n)
		return new(big.Int).SetBytes(b).Uint64()
	}
	switch typ.Kind {
	case rowgroup.KindBoolean:
		return u(1) != 0
	case rowgroup.KindTinyint:
		return int64(int8(u(1)))
	case rowgroup.KindSmallint:
		return int64(int16(u(2)))
	case rowgroup.KindInt:
		return int64(int32(u(4)))
	case rowgroup.KindBigint:
		return int64(u(8))
	case rowgroup.KindVarint:
		return json.Number(varint(b).String())
	case rowgroup.KindDecimal:
		return object{"$scale": int64(int32(binary.BigEndian.Uint32(b))), "$unscaled": json.Number(varint(b[4:]).String())}
	case rowgroup.KindFloat:
		return float64(math.Float32frombits(uint32(u(4))))
	case rowgroup.KindDouble:
		return math.Float64frombits(u(8))
	case rowgroup.KindText, rowgroup.KindASCII:
		return string(b)
	case rowgroup.KindUUID, rowgroup.KindTimeUUID:
		return uuidText(b)
	case rowgroup.KindInet:
		addr, ok := netip.AddrFromSlice(b)
		require.True(t, ok)
		return addr.String()
	case rowgroup.KindDate:
		return time.Unix(int64(int32(uint32(u(4))-1<<31))*86400, 0).UTC().Format("2006-01-02")
	case rowgroup.KindTimestamp:
		return object{"$ms": int64(u(8))}
	case rowgroup.KindTime:
		return object{"$ns": int64(u(8))}
	case rowgroup.KindDuration:
		c := cursor{b: b}
		return object{"$months": c.svint(), "$days": c.svint(), "$nanos": c.svint()}
	case rowgroup.KindCounter:
		x, err := ParseCounter(b)
		require.NoError(t, err)
		shards := []any{}
		for _, s := range x.Shards {
			shards = append(shards, object{"id": uuidText(s.ID[:]), "clock": s.Clock, "count": s.Count, "kind": s.Kind.String()})
		}
		return object{"$counter": x.Total(), "shards": shards}
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindMap, rowgroup.KindUDT:
		return elementsJSON(t, typ, b)
	}
	return object{"$hex": hex.EncodeToString(b)}
}

func elementsJSON(t *testing.T, typ rowgroup.Type, b []byte) any {
	c := cursor{b: b}
	next := func(a rowgroup.Type) any {
		n := c.i32()
		if n < 0 {
			return nil
		}
		return valueJSON(t, a, c.take(uint64(n)))
	}
	if typ.Kind == rowgroup.KindUDT {
		o := object{}
		for i, name := range typ.Fields {
			o[name] = nil
			if c.left() > 0 {
				o[name] = next(typ.Args[i])
			}
		}
		return o
	}
	list := []any{}
	for range c.i32() {
		first := next(typ.Args[0])
		if typ.Kind == rowgroup.KindMap {
			first = []any{first, next(typ.Args[1])}
		}
		list = append(list, first)
	}
	require.False(t, c.short)
	require.Zero(t, c.left())
	if typ.Kind == rowgroup.KindMap {
		return object{"$map": list}
	}
	return list
}

func varint(b []byte) *big.Int {
	x := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return x
}

func uuidText(b []byte) string {
	x := hex.EncodeToString(b)
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}
