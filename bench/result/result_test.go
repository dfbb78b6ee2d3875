package result

import (
	"bytes"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	l := List{
		{Suite: "s", Data: "d", Subject: "ours", Params: Params{"block": 128}, Metric: "ns", Value: 2},
		{Suite: "s", Data: "d", Subject: "peer", Params: Params{"block": 128}, Metric: "ns", Value: 6},
		{Suite: "s", Data: "d", Subject: "other", Params: Params{"block": 128}, Metric: "ns", Value: 8},
	}
	best, ok := l[1:].Best(false)
	if !ok || best.Subject != "peer" {
		t.Fatalf("best is %v", best)
	}
	l.Add(l[0], Target{What: "speed", Of: "ns", Value: 2, Reference: best.Value, By: best.Subject, Most: 0.5})
	l.Add(l[0], Target{What: "speed", Of: "ns", Value: 2, Reference: best.Value, By: best.Subject, Most: 0.25})
	var file bytes.Buffer
	if err := l.Write(&file); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&file)
	if err != nil || len(got) != len(l) {
		t.Fatalf("%d results of %d, %v", len(got), len(l), err)
	}
	// Parameters of a file are float64, and found all the same.
	ratios := got.Where(Result{Metric: "ratio", Params: Params{"block": 128}})
	if len(ratios) != 2 || !*ratios[0].Pass || *ratios[1].Pass {
		t.Fatalf("ratios: %v", ratios)
	}
	var text strings.Builder
	if err := got.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"ours  block=128", "reached", "MISSED", "6 (peer)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 3: "3", 12345.6: "12346", 12.345: "12.35", 0.123456: "0.123", 0.00012345: "0.000123", 1e20: "100000000000000000000"} {
		if got := Short(v); got != want {
			t.Errorf("%v is %q, not %q", v, got, want)
		}
	}
}
