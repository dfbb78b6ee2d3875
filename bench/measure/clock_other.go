//go:build !linux

package measure

import "time"

var started = time.Now()

// CPU is the time since the program began: here no clock of CPU time is read,
// so measurements need an idle machine.
func CPU() time.Duration { return time.Since(started) }
