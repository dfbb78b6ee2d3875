package cli

import "github.com/spf13/cobra"

func topicTypes() *cobra.Command {
	return &cobra.Command{Use: "types", Short: "Types of columns, for --type and --schema", Long: `  boolean                            true, false
  tinyint smallint int bigint        integers of 8, 16, 32, 64 bits
  uint8 uint16 uint32 uint64         integers without a sign
  varint                             integers of any size
  float double                       binary floating point of 32, 64 bits
  decimal                            decimal numbers of any size, digits kept: 1.50
  decimal(p,s)                       of at most p digits, 76 at most, s of them behind the point: 1.50
  text (varchar, string)  ascii      UTF-8; ASCII
  blob (bytes)  fixed(n)             bytes, in text as 0x00ff; n bytes each
  date                               a day: 2006-01-02
  time                               of a day, to the ns: 15:04:05.999999999
  timestamp(s|ms|us|ns)              an instant, counted in that unit; timestamp alone is ms
  uuid timeuuid  inet  duration      as in CQL
  tuple<...> vector<t, n> frozen<list<t>> frozen<set<t>> frozen<map<k, v>>   as in CQL
  list<t> set<t> map<k, v>           the same of many cells a row, which no text has

In --type col=TYPE the type of a column of text; what is not given is inferred.
Numbers of more digits than float or double keep are rounded, which is told;
those that a decimal(p,s) cannot hold are refused.`}
}
