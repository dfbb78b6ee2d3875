package cassandra

import (
	"errors"
	"io"
)

// UserTypes says how the user types of a header were taken that lack a
// FrozenType around them and may be frozen nonetheless (CASSANDRA-15035).
type UserTypes uint8

// The ways.
const (
	UserTypesByHeader       UserTypes = iota // there are none, or the version is not in doubt
	UserTypesFrozen                          // as WithUserTypes said
	UserTypesMultiCell                       // as WithUserTypes said
	UserTypesFoundFrozen                     // the sizes of rows fit only so
	UserTypesFoundMultiCell                  // the sizes of rows fit so
)

func (u UserTypes) String() string {
	return [...]string{
		"as the header says", "frozen, as given", "multi-cell, as given",
		"frozen, by the sizes of rows", "multi-cell, by the sizes of rows",
	}[min(u, UserTypesFoundMultiCell)]
}

// How much of a body decideUserTypes reads at most: up to so many bytes, or
// rows that can tell.
const (
	trialLength = 64 << 20
	trialRows   = 1000
)

// decideUserTypes settles what user types without FrozenType are. Read in the
// wrong way a row does not end where its size says.
func (s *SSTable) decideUserTypes() error {
	if !s.Version.udtsAmbiguous() || !s.Header.HasMultiCellUDTs() {
		return nil
	}
	frozen := s.Header.WithFrozenUDTs()
	s.UserTypes = s.options.userTypes
	switch s.UserTypes {
	case UserTypesFrozen:
		s.Header = frozen
	case UserTypesByHeader:
		s.UserTypes = UserTypesFoundMultiCell
		asHeader, ok, err := s.try(s.Header)
		if ok || err != nil {
			return err
		}
		asFrozen, _, err := s.try(frozen)
		if err != nil {
			return err
		}
		if asFrozen > asHeader {
			s.Header, s.UserTypes = frozen, UserTypesFoundFrozen
		}
	}
	return nil
}

// try reports how far the body, or its beginning, can be read under h, and
// whether that is to the end of the trial.
func (s *SSTable) try(h *Header) (position int64, ok bool, err error) {
	r, err := s.scan(h, 0, 1)
	if err != nil {
		return 0, false, err
	}
	for rows := 0; rows < trialRows && r.Position() < trialLength && err == nil; {
		var e Event
		if e, err = r.Next(); err == nil && (e == ClusteringRow || e == StaticRow) && len(r.Row().Complex) > 0 {
			rows++
		}
	}
	ok = err == nil || errors.Is(err, io.EOF)
	return r.Position(), ok, r.Close()
}
