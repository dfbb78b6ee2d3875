package cli

import (
	"fmt"
	"io"
)

// stdoutWriter is stdout; its errors say so, and the first one is kept.
type stdoutWriter struct {
	w   io.Writer
	err error
}

func (s *stdoutWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		err = &exitError{exitOutput, &outputError{fmt.Errorf("stdout: %w", cause(err))}}
		if s.err == nil {
			s.err = err
		}
	}
	return n, err
}

// stdout is where a command prints.
func (t *tool) stdout() *stdoutWriter {
	w := t.cmd.OutOrStdout()
	if s, ok := w.(*stdoutWriter); ok {
		return s
	}
	return &stdoutWriter{w: w}
}
