package result

import (
	"bufio"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/colsst/colsst/simd"
)

// Environment is the subject of the line that describes a run.
const Environment = "environment"

// Describe is the line that tells on what machine, with which versions and by
// which command a suite was measured. Its value is the number of CPUs.
func Describe(suite string) Result {
	p := Params{
		"go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH, "cpu": cpuModel(), "load": load(),
		"level": simd.Supported().String(), "time": time.Now().UTC().Format(time.RFC3339),
		"command": "go run . " + strings.Join(os.Args[1:], " "),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		versions := map[string]string{}
		for _, d := range info.Deps {
			if d.Replace != nil && d.Replace.Version != "" {
				d.Version = d.Replace.Version
			}
			if peers[d.Path] {
				versions[d.Path] = d.Version
			}
		}
		p["versions"] = versions
	}
	return Result{Suite: suite, Data: "run", Subject: Environment, Params: p, Metric: "cpus", Value: float64(runtime.NumCPU())}
}

// peers are the modules whose versions matter.
var peers = map[string]bool{
	"github.com/parquet-go/parquet-go": true, "github.com/apache/arrow-go/v18": true, "github.com/VictoriaMetrics/VictoriaMetrics": true,
	"github.com/prometheus/prometheus": true, "github.com/influxdata/influxdb": true, "github.com/klauspost/compress": true,
	"github.com/cockroachdb/pebble/v2": true, "github.com/syndtr/goleveldb": true, "github.com/duckdb/duckdb-go/v2": true,
	"github.com/DataDog/zstd": true, "github.com/valyala/gozstd": true,
}

func cpuModel() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer func() { _ = f.Close() }() // only read
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, ok := strings.CutPrefix(s.Text(), "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, " \t:"))
		}
	}
	return "unknown"
}

// load is the number of tasks that wanted to run in the last minute, which says
// how far to trust the times.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
