package table

import (
	"testing"

	"github.com/colsst/colsst/bench/result"
)

// Every subject writes, and answers as the generator says.
func TestSubjects(t *testing.T) {
	o := &Options{Quick: true, Series: 2, Points: 1000, Variant: "2dec"}
	for _, s := range subjects() {
		t.Run(s.id(), func(t *testing.T) {
			l, err := check(o, &s, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			if len(l) < 2 {
				t.Errorf("results: %v", l)
			}
		})
	}
}

// check is measureSubject without most of the clock.
func check(o *Options, s *subject, dir string) (result.List, error) {
	if err := s.setLevel(); err != nil {
		return nil, err
	}
	rec := o.recorder(s)
	path := dir + "/table"
	truth := &truth{about: s.irregular}
	m, err := o.metrics()
	if err != nil {
		return nil, err
	}
	rows := m.Rows()
	if s.irregular {
		rows = m.Irregular()
	}
	if _, err := write(rows, s.write, path, truth); err != nil {
		return nil, err
	}
	if s.load != nil {
		if err := s.load(path); err != nil {
			return nil, err
		}
	}
	r, err := s.openTimed(path, rec)
	if err != nil {
		return nil, err
	}
	defer r.close()
	if err := o.scans(r, truth, rec); err != nil {
		return nil, err
	}
	for _, rows := range []int{0, 60, 720} {
		if err := truth.check(r, rows); err != nil {
			return nil, err
		}
		other, err := r.session()
		if err != nil {
			return nil, err
		}
		for _, q := range truth.queries(o.Points, rows, 1)[:5] {
			if err := q.run(other); err != nil {
				return nil, err
			}
		}
		if err := other.close(); err != nil {
			return nil, err
		}
	}
	return rec.list, nil
}
