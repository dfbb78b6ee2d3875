package cassandra

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/colsst/colsst/encoding"
)

// Component is the part of an SSTable's file name that says what a file holds.
type Component string

// The components that this package reads.
const (
	ComponentData            Component = "Data.db"
	ComponentStatistics      Component = "Statistics.db"
	ComponentTOC             Component = "TOC.txt"
	ComponentCompressionInfo Component = "CompressionInfo.db" // of a compressed Data.db
	ComponentCRC             Component = "CRC.db"             // of an uncompressed one
	ComponentDigest          Component = "Digest.crc32"
	ComponentIndex           Component = "Index.db"      // BIG
	ComponentSummary         Component = "Summary.db"    // BIG
	ComponentPartitions      Component = "Partitions.db" // BTI
	ComponentRows            Component = "Rows.db"       // BTI
)

var components = [...]Component{
	ComponentData, ComponentStatistics, ComponentTOC, ComponentCompressionInfo, ComponentCRC, ComponentDigest,
	ComponentIndex, ComponentSummary, ComponentPartitions, ComponentRows,
}

// Descriptor is what the file names of one SSTable have in common:
//
//	nb-1-big-Data.db     da-3gsm_0lob_1zdg02we44my8dy25w-bti-Data.db
//	│  │ │   └ component
//	│  │ └ format
//	│  └ id: generation, or a time-based one of 28 characters
//	└ version
type Descriptor struct {
	Version Version
	ID      string
}

var (
	idPattern  = regexp.MustCompile(`^(?:[0-9]{1,19}|[0-9a-z]{4}_[0-9a-z]{4}_[0-9a-z]{18})$`)
	oldPattern = regexp.MustCompile(`-(?:[a-z]{2})-[0-9]+-[A-Z][A-Za-z0-9]*\.(?:db|txt|crc32|sha1|adler32)$`)
)

// ParseName splits the name of an SSTable's file, without its directory. A
// version that this package does not read is an encoding.ErrUnsupported; other
// names are a plain error.
func ParseName(name string) (Descriptor, Component, error) {
	parts := strings.SplitN(name, "-", 4)
	if len(parts) == 4 && len(parts[0]) == 2 && (parts[2] == FormatBIG || parts[2] == FormatBTI) &&
		parts[3] != "" && idPattern.MatchString(parts[1]) {
		v, err := ParseVersion(parts[0], parts[2])
		if err != nil {
			return Descriptor{}, "", fmt.Errorf("%s: %w", name, err)
		}
		return Descriptor{v, parts[1]}, Component(parts[3]), nil
	}
	if oldPattern.MatchString(name) {
		return Descriptor{}, "", fmt.Errorf("%s: %w: the name is of Cassandra before 2.2", name, encoding.ErrUnsupported)
	}
	return Descriptor{}, "", fmt.Errorf("%s: not the name of an SSTable's file (version-id-format-component)", name)
}

// FileName is the name of a component's file.
func (d Descriptor) FileName(c Component) string {
	return fmt.Sprintf("%s-%s-%s-%s", d.Version, d.ID, d.Version.Format(), c)
}

// ParseTOC reads TOC.txt, the list of an SSTable's components: one a line in
// any order, TOC.txt itself among them.
func ParseTOC(text []byte) ([]Component, error) {
	var list []Component
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(line) > 256 || strings.ContainsAny(line, "/\\\x00") {
			return nil, encoding.Corruptf(string(ComponentTOC), "line %d is no component", n+1)
		}
		list = append(list, Component(line))
	}
	return list, nil
}
