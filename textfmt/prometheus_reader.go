package textfmt

import (
	"fmt"
	"io"

	"github.com/colsst/colsst/rowgroup"
)

// NewPrometheusReader reads the text format of Prometheus, with timestamps:
//
//	http_requests_total{method="post",code="200"} 1027 1395066363000
//
// or, with openMetrics, that of OpenMetrics, whose timestamps are decimal
// seconds. The column __name__ and the labels in the order of their names are
// the partition key, unless the options say otherwise; a sample without one of
// the labels has the empty text there, which is the same to Prometheus. Then
// come the time column, named time unless the options name one, and the double
// value. Where the options give no schema, up to 64 Ki samples or 16 MiB are
// read first to find the labels.
//
// Timestamps count milliseconds; those of OpenMetrics can have another unit by
// the options. A sample without one, as in a scrape, is an error. Comments,
// types, help and exemplars are left out.
func NewPrometheusReader(r io.Reader, name string, openMetrics bool, o TableOptions) (*Reader, error) {
	spec := TimeSpec{Column: "time"}
	if o.Time != nil {
		spec = *o.Time
	}
	if !spec.UnitSet {
		spec.Unit, spec.UnitSet = rowgroup.Millis, true
	}
	o.Time = &spec
	f := &seriesFormat{name: name, options: &o, series: []byte("__name__"), time: []byte(spec.Column), whole: true}
	if t, _ := o.given(spec.Column); t.Kind != rowgroup.KindTimestamp || !openMetrics && t.Unit != rowgroup.Millis {
		return nil, fmt.Errorf("%s: the timestamps of Prometheus are milliseconds, not %s", name, t)
	}
	f.parse = parsePrometheus
	if openMetrics {
		layouts := map[string]*Layout{spec.Column: {text: "unix", unix: true}}
		for column, l := range o.Layouts {
			layouts[column] = l
		}
		o.Layouts = layouts
	}
	return f.newReader(r)
}

func parsePrometheus(s *series) (lineState, error) {
	s.blanks()
	if s.at == len(s.data) || s.data[s.at] == '#' {
		return blankLine, nil
	}
	start := s.at
	name := s.metricName()
	if s.at < len(s.data) && s.data[s.at] == '{' {
		s.at++
		var err error
		if name, err = s.labels(name); err != nil {
			return 0, err
		}
	}
	if len(name) == 0 {
		s.at = start
		return 0, s.expected("the name of a metric")
	}
	if err := s.set(s.format.series, name, tagKind, start); err != nil {
		return 0, err
	}
	if s.blanks() == 0 && s.data[s.at-1] != '}' {
		return 0, s.expected("a space and a value")
	}
	start = s.at
	value := s.token()
	if !isFloat(value) {
		s.at = start
		return 0, s.expected("a value")
	}
	if err := s.set(valueName, value, floatKind, start); err != nil {
		return 0, err
	}
	s.blanks()
	start = s.at
	time := s.token()
	if len(time) == 0 || !isFloat(time) {
		s.at = start
		return 0, s.expected("a timestamp")
	}
	if err := s.set(s.format.time, time, timeKind, start); err != nil {
		return 0, err
	}
	if s.blanks(); s.at < len(s.data) && s.data[s.at] != '#' {
		return 0, s.expected("the end of the line")
	}
	return pointLine, nil
}

var valueName = []byte("value")

// token reads up to a blank.
func (s *series) token() []byte {
	start := s.at
	for s.at < len(s.data) && s.data[s.at] != ' ' && s.data[s.at] != '\t' {
		s.at++
	}
	return s.data[start:s.at:s.at]
}

// metricName reads the name of a metric or label that needs no quotes.
func (s *series) metricName() []byte {
	start := s.at
	for s.at < len(s.data) {
		c := s.data[s.at]
		if letter := c == '_' || c == ':' || c|0x20-'a' < 26; !letter && (c-'0' > 9 || s.at == start) {
			break
		}
		s.at++
	}
	return s.data[start:s.at:s.at]
}

// labels reads labels behind the opening brace. A string without a value among
// them is the name of the metric.
func (s *series) labels(metric []byte) ([]byte, error) {
	for {
		s.blanks()
		if s.at < len(s.data) && s.data[s.at] == '}' {
			s.at++
			return metric, nil
		}
		name, quoted, err := s.labelName()
		if err != nil {
			return nil, err
		}
		s.blanks()
		if s.at < len(s.data) && s.data[s.at] == '=' {
			s.at++
			s.blanks()
			start := s.at
			if s.at == len(s.data) || s.data[s.at] != '"' {
				return nil, s.expected("the value of a label, in quotes")
			}
			value, closed := s.quoted("\"\\", "n")
			if !closed {
				return nil, s.expected("a quote that ends the value")
			}
			if err := s.set(name, value, tagKind, start); err != nil {
				return nil, err
			}
		} else if quoted && len(metric) == 0 {
			metric = name
		} else {
			return nil, s.expected("= and the value of the label")
		}
		s.blanks()
		switch {
		case s.at < len(s.data) && s.data[s.at] == ',':
			s.at++
		case s.at == len(s.data) || s.data[s.at] != '}':
			return nil, s.expected("a comma or brace behind a label")
		}
	}
}

func (s *series) labelName() (name []byte, quoted bool, err error) {
	if s.at < len(s.data) && s.data[s.at] == '"' {
		name, closed := s.quoted("\"\\", "n")
		if !closed || len(name) == 0 {
			return nil, true, s.expected("a name in quotes")
		}
		return name, true, nil
	}
	if name = s.metricName(); len(name) == 0 {
		return nil, false, s.expected("the name of a label")
	}
	return name, false, nil
}
