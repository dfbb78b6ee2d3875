package measure

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Memory is resident memory of the process, in bytes; zero where the system
// does not tell.
type Memory struct {
	Now  int64
	Peak int64 // since the last ResetPeak
}

// ReadMemory asks the system.
func ReadMemory() (m Memory) {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return m
	}
	defer func() { _ = f.Close() }() // only read
	for s := bufio.NewScanner(f); s.Scan(); {
		var kb int64
		if _, err := fmt.Sscanf(s.Text(), "VmRSS: %d kB", &kb); err == nil {
			m.Now = kb << 10
		} else if _, err := fmt.Sscanf(s.Text(), "VmHWM: %d kB", &kb); err == nil {
			m.Peak = kb << 10
		}
	}
	return m
}

// ResetPeak gives free memory back to the system and lets Peak begin anew. It
// returns the memory in use then.
func ResetPeak() Memory {
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // elsewhere Peak is that of the whole run
	return ReadMemory()
}

// Heap is how many bytes f leaves reachable in the heap.
func Heap(f func()) int64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // what finalizers and pools held
	runtime.ReadMemStats(&before)
	f()
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	return int64(after.HeapAlloc) - int64(before.HeapAlloc)
}
