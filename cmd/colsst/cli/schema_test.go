package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// jsonSchema is what the schemas in docs/schemas use of JSON Schema.
type jsonSchema struct {
	Type                 kinds                  `json:"type"`
	Enum                 []any                  `json:"enum"`
	Properties           map[string]*jsonSchema `json:"properties"`
	Required             []string               `json:"required"`
	AdditionalProperties json.RawMessage        `json:"additionalProperties"`
	Items                *jsonSchema            `json:"items"`
}

// kinds are one type or several.
type kinds []string

func (k *kinds) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(k))
	}
	*k = kinds{""}
	return json.Unmarshal(b, &(*k)[0])
}

// kindOf are the types that v has.
func kindOf(v any) kinds {
	switch v := v.(type) {
	case map[string]any:
		return kinds{"object"}
	case []any:
		return kinds{"array"}
	case string:
		return kinds{"string"}
	case bool:
		return kinds{"boolean"}
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return kinds{"number"}
		}
		return kinds{"number", "integer"}
	}
	return kinds{"null"}
}

// check lists where v does not follow s.
func (s *jsonSchema) check(path string, v any) (wrong []string) {
	fail := func(format string, args ...any) { wrong = append(wrong, path+": "+fmt.Sprintf(format, args...)) }
	if s.Enum != nil && !slices.Contains(s.Enum, v) {
		fail("%v is none of %v", v, s.Enum)
	}
	if s.Type != nil && !slices.ContainsFunc(kindOf(v), func(k string) bool { return slices.Contains(s.Type, k) }) {
		fail("%T is none of %v", v, s.Type)
		return wrong
	}
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			wrong = append(wrong, s.Items.check(fmt.Sprintf("%s[%d]", path, i), x)...)
		}
	case map[string]any:
		for _, k := range s.Required {
			if _, there := v[k]; !there {
				fail("no %s", k)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			member := s.Properties[k]
			if member == nil {
				if string(s.AdditionalProperties) == "false" {
					fail("%s is not in the schema", k)
					continue
				}
				member = &jsonSchema{}
				if len(s.AdditionalProperties) > 0 {
					if err := json.Unmarshal(s.AdditionalProperties, member); err != nil {
						fail("%s: %v", k, err)
					}
				}
			}
			wrong = append(wrong, member.check(path+"."+k, v[k])...)
		}
	}
	return wrong
}

// requireSchema checks a sequence of JSON values against a schema of
// docs/schemas and returns them.
func requireSchema(t *testing.T, name, text string) (values []any) {
	t.Helper()
	b, err := os.ReadFile("../../../docs/schemas/" + name + ".json")
	require.NoError(t, err)
	var s jsonSchema
	require.NoError(t, json.Unmarshal(b, &s))
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for d.More() {
		var v any
		require.NoError(t, d.Decode(&v))
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		values = append(values, list...)
		top := &s
		if slices.Contains(s.Type, "array") && !isList {
			top = s.Items // a row of NDJSON
		}
		require.Empty(t, top.check("", v))
	}
	require.NotEmpty(t, values)
	return values
}

// What the commands print as JSON follows docs/schemas.
func TestJSONSchemas(t *testing.T) {
	dir := t.TempDir()
	m, n, c, p := filepath.Join(dir, "m.csst"), filepath.Join(dir, "n.csst"), filepath.Join(dir, "c.csst"), filepath.Join(dir, "p.csst")
	_, errs := run(t, 0, "gen", "metrics5", "--series", "2", "--points", "200", "-o", m, "--summary", "json", "-q")
	requireSchema(t, "summary", errs)
	run(t, 0, "gen", "metrics5", "--series", "2", "--points", "200", "--variant", "backfill", "-o", n, "-q")
	run(t, 0, "gen", "points", "-o", p, "-q")
	_, errs = run(t, 0, "convert", m, "-o", c, "--compression", "zstd", "--column-compression", "zstd", "--summary", "json", "-q")
	requireSchema(t, "summary", errs)

	out, _ := run(t, 0, "describe", m, c, p, "--format", "json")
	for _, v := range requireSchema(t, "describe", out) {
		d := v.(map[string]any)
		integer := func(v any) int64 {
			n, err := v.(json.Number).Int64()
			require.NoError(t, err)
			return n
		}
		layers := d["layers"].(map[string]any)
		sum := int64(0)
		for _, n := range layers {
			sum += integer(n)
		}
		require.Equal(t, integer(d["bytes"]), sum)
		for _, c := range d["columns"].([]any) {
			sum -= integer(c.(map[string]any)["bytes"])
		}
		for _, k := range []string{"templates", "headers", "index", "statistics", "filter", "checksums", "footer", "outer_saving"} {
			sum -= integer(layers[k])
		}
		require.Zero(t, sum, "columns are not payload + row_metadata + codec_params")
	}
	out, _ = run(t, 0, "describe", m, c, p, "--format", "json", "--explain", "--rows", "100")
	requireSchema(t, "describe", out)
	out, _ = run(t, 0, "try", m, c, p, "--format", "json", "--speed")
	require.Len(t, requireSchema(t, "try", out), 3)
	out, _ = run(t, 0, "verify", m, "--format", "json")
	requireSchema(t, "verify", out)
	b, err := os.ReadFile(m)
	require.NoError(t, err)
	b[len(b)/2] ^= 1
	broken := filepath.Join(dir, "broken.csst")
	require.NoError(t, os.WriteFile(broken, b, 0o600))
	out, _ = run(t, 3, "verify", broken, "--format", "json")
	requireSchema(t, "verify", out)
	out, _ = run(t, 1, "diff", m, n, "--format", "json")
	requireSchema(t, "diff", out)
	out, _ = run(t, 1, "diff", m, p, "--format", "json")
	requireSchema(t, "diff", out)
	out, _ = run(t, 0, "version", "--format", "json")
	requireSchema(t, "version", out)
	for _, format := range []string{"json", "ndjson"} {
		out, _ = run(t, 0, "query", m, "--format", format, "-q")
		require.Len(t, requireSchema(t, "query", out), 400)
	}
	out, _ = run(t, 0, "stats", m, p, "--format", "json")
	require.Len(t, requireSchema(t, "stats", out), 2)
	out, _ = run(t, 0, "dump", m, c, "--limit", "3")
	require.Len(t, requireSchema(t, "dump", out), 10)
	_, errs = run(t, 2, "verify", m, "--level", "x", "--summary", "json")
	lines := strings.SplitAfter(strings.TrimSpace(errs), "\n")
	requireSchema(t, "summary", lines[len(lines)-1])
	out, _ = run(t, 0, "dump", m)
	require.Len(t, requireSchema(t, "dump", out), 402)
	for _, table := range []string{"fresh/da-ttls", "fresh/nb-tombstones", "ma"} {
		out, _ = run(t, 0, "cassandra", "report", "../../../cassandra/testdata/"+table, "--format", "json")
		require.Len(t, requireSchema(t, "report", out), 1)
	}
	out, _ = run(t, 0, "dump", m, "--live", "-q")
	require.Len(t, requireSchema(t, "query", out), 400)
}
