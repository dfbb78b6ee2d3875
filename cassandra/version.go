package cassandra

import (
	"fmt"

	"github.com/colsst/colsst/encoding"
)

// Version is the version of an SSTable: two letters at the start of its file
// names. The first letter tells the format: m, n and o are BIG, d is BTI.
//
//	ma  3.0.0           the row-native storage engine, the oldest read here
//	mb  3.0.7, 3.7      STATS: lower bound in the commit log
//	mc  3.0.8, 3.9      STATS: intervals of the commit log
//	md  3.0.18, 3.11.4  smallest and largest clustering are right
//	me  3.0.25, 3.11.11 STATS: originating host
//	na  4.0 before release: longest compressed chunk, checksums in
//	    Statistics.db, pending repair, transient
//	nb  4.0, and 5.0 as long as it keeps compatible: originating host
//	nc  never released: nb and a tail that is ignored
//	oa  5.0: unsigned deletion times, short live partition deletion, new tail
//	da  5.0, BTI: the bytes of oa under tries instead of Index.db
type Version string

// Formats of SSTables.
const (
	FormatBIG = "big"
	FormatBTI = "bti"
)

// ParseVersion checks that v is a version that this package reads in the given
// format. Any other is an encoding.ErrUnsupported that names who writes it.
func ParseVersion(v, format string) (Version, error) {
	want := FormatBIG
	switch v {
	case "da":
		want = FormatBTI
		fallthrough
	case "ma", "mb", "mc", "md", "me", "na", "nb", "nc", "oa":
		if format != want {
			return "", fmt.Errorf("%w: version %s in format %q, which has format %q", encoding.ErrUnsupported, v, format, want)
		}
		return Version(v), nil
	}
	why := "unknown, or newer than this reader"
	switch {
	case format == FormatBTI && v < "d":
		why = "written by DataStax Enterprise"
	case format == FormatBIG && (v == "ms" || v == "mt"):
		why = "written by ScyllaDB"
	case format == FormatBIG && v < "m":
		why = "written by Cassandra before 3.0"
	}
	return "", fmt.Errorf("%w: SSTable version %s (%s): %s", encoding.ErrUnsupported, v, format, why)
}

// Format is FormatBIG or FormatBTI.
func (v Version) Format() string {
	if v.bti() {
		return FormatBTI
	}
	return FormatBIG
}

func (v Version) bti() bool { return v != "" && v[0] == 'd' }

// since reports whether v has what the BIG version first brought.
func (v Version) since(first Version) bool { return v.bti() || v >= first }

// The features by which versions differ. Names are those of the facts.
func (v Version) hasCommitLogLowerBound() bool { return v.since("mb") }
func (v Version) hasCommitLogIntervals() bool  { return v.since("mc") }
func (v Version) hasHostID() bool              { return v.since("nb") || "me" <= v && v < "na" }
func (v Version) hasChecksums() bool           { return v.since("na") } // and maxCompressedLength, pending repair, transient
func (v Version) unsignedDeletionTimes() bool  { return v.since("oa") } // and all else that oa brought

// udtsAmbiguous reports whether a header may say UserType(...) for a frozen
// user type: Cassandra 3.0 wrote it so (CASSANDRA-15035).
func (v Version) udtsAmbiguous() bool { return v < "n" && !v.bti() }

// LocalDeletionTime is a local deletion time, or expiry, in seconds from its
// 32 raw bits: signed before oa, where a negative one comes of a clock or a TTL
// past 2038, and unsigned from oa on. RawDeletionTime is the inverse.
func (v Version) LocalDeletionTime(raw uint32) int64 {
	if v.unsignedDeletionTimes() {
		return int64(raw)
	}
	return int64(int32(raw))
}

// RawDeletionTime is the 32 bits that stand for a local deletion time in files
// of version v.
func (v Version) RawDeletionTime(seconds int64) uint32 { return uint32(seconds) }

// NoDeletionTime is the local deletion time by which v says that there is none.
func (v Version) NoDeletionTime() int64 {
	if v.unsignedDeletionTimes() {
		return 1<<32 - 1
	}
	return 1<<31 - 1
}
