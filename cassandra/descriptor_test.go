package cassandra

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
)

func TestParseName(t *testing.T) {
	tests := []struct {
		name      string
		want      Descriptor
		component Component
		refused   string // by ErrUnsupported; "-": plain error
	}{
		{name: "nb-12-big-Data.db", want: Descriptor{"nb", "12"}, component: ComponentData},
		{name: "ma-1-big-TOC.txt", want: Descriptor{"ma", "1"}, component: ComponentTOC},
		{name: "da-3gsm_0lob_1zdg02we44my8dy25w-bti-Partitions.db", want: Descriptor{"da", "3gsm_0lob_1zdg02we44my8dy25w"}, component: ComponentPartitions},
		{name: "oa-7-big-SAI+aa+my-index.db", want: Descriptor{"oa", "7"}, component: "SAI+aa+my-index.db"},
		{name: "ms-1-big-Data.db", refused: "ScyllaDB"},
		{name: "mt-1-big-Data.db", refused: "ScyllaDB"},
		{name: "aa-1-bti-Data.db", refused: "DataStax Enterprise"},
		{name: "cc-1-bti-Data.db", refused: "DataStax Enterprise"},
		{name: "la-1-big-Data.db", refused: "before 3.0"},
		{name: "ks-t-ka-1-Data.db", refused: "before 2.2"},
		{name: "ks-t-jb-123-CompressionInfo.db", refused: "before 2.2"},
		{name: "da-1-big-Data.db", refused: "bti"},
		{name: "nb-1-bti-Data.db", refused: "big"},
		{name: "pa-1-big-Data.db", refused: "newer"},
		{name: "db-1-bti-Data.db", refused: "newer"},
		{name: "mf-1-big-Data.db", refused: "newer"},
		{name: "nb-1-big-", refused: "-"},
		{name: "nb-x-big-Data.db", refused: "-"},
		{name: "nb-1-big", refused: "-"},
		{name: "nb_1_big_Data.db", refused: "-"},
		{name: "", refused: "-"},
	}
	for _, test := range tests {
		d, c, err := ParseName(test.name)
		if test.refused != "" {
			require.Error(t, err, test.name)
			require.Equal(t, test.refused != "-", errors.Is(err, encoding.ErrUnsupported), "%s: %v", test.name, err)
			if test.refused != "-" {
				require.ErrorContains(t, err, test.refused)
			}
			continue
		}
		require.NoError(t, err)
		require.Equal(t, test.want, d)
		require.Equal(t, test.component, c)
		require.Equal(t, test.name, d.FileName(c))
	}
}

func TestParseTOC(t *testing.T) {
	list, err := ParseTOC([]byte("Data.db\r\nTOC.txt\n\nStatistics.db"))
	require.NoError(t, err)
	require.Equal(t, []Component{ComponentData, ComponentTOC, ComponentStatistics}, list)
	_, err = ParseTOC([]byte("Data.db\n../x\n"))
	require.ErrorIs(t, err, encoding.ErrCorrupt)
}

func TestVersionFeatures(t *testing.T) {
	lower, intervals, host, sums, unsigned := "", "", "", "", ""
	for _, v := range versions {
		for _, f := range []struct {
			list *string
			has  bool
		}{{&lower, v.hasCommitLogLowerBound()}, {&intervals, v.hasCommitLogIntervals()}, {&host, v.hasHostID()}, {&sums, v.hasChecksums()}, {&unsigned, v.unsignedDeletionTimes()}} {
			if f.has {
				*f.list += string(v) + " "
			}
		}
	}
	require.Equal(t, "mb mc md me na nb nc oa da ", lower)
	require.Equal(t, "mc md me na nb nc oa da ", intervals)
	require.Equal(t, "me nb nc oa da ", host)
	require.Equal(t, "na nb nc oa da ", sums)
	require.Equal(t, "oa da ", unsigned)
}
