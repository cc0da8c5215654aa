package report

import (
	"bytes"
	"strings"
	"testing"

	"pgflurry/bench/statistics"
)

func TestAReportOfConnectionsHasAColumnForEachContenderWithAllThatWasMeasuredOfIt(t *testing.T) {
	spread := func(f float64) statistics.Spread { return statistics.Spread{Low: f / 2, Median: f, High: f * 2, N: 3} }
	figure := func(workload, contender, counts string) Figure {
		cpu := spread(10)
		return Figure{
			Workload: workload, Task: workload, Contender: contender, Counts: counts, PerSecond: spread(5000),
			ServerCPU: &cpu,
			Latency:   map[string]statistics.Spread{"p50": spread(100), "p99": spread(2000), "max": spread(4000)},
		}
	}
	stays, memory := figure("stay", "a", "connections"), spread(20<<10)
	stays.Memory, stays.Latency = &memory, nil
	unwatched := figure("draw", "b", "IDs")
	unwatched.ServerCPU = nil
	r := &Report{Kind: KindConnections, Figures: []Figure{
		stays, figure("log in", "a", "connections"), figure("log in", "b", "connections"), figure("draw", "a", "IDs"),
		unwatched, figure("one beside others", "b", "IDs"),
	}}
	var text bytes.Buffer
	if err := r.WriteMarkdown(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| | | a | b |\n|---|---|--:|--:|\n",
		"| stay | KiB of memory, each | 20.0 (10.0 – 40.0) | – |\n",
		"| log in | p50, ms | 0.10 (0.05 – 0.20) | 0.10 (0.05 – 0.20) |\n| … | p99, ms | 2.00 (1.00 – 4.00) |",
		"| … | µs of CPU in all servers, each | 10.0 (5.00 – 20.0) | not measured |\n| one beside others |",
		"| draw | IDs per second | 5,000 (2,500 – 10,000) | 5,000 (2,500 – 10,000) |\n",
		"| one beside others | p50, ms | – | 0.10 (0.05 – 0.20) |\n| … | p99, ms | – | 2.00",
		"| … | max, ms | – | 4.00 (2.00 – 8.00) |\n",
		"\nAll figures:\n\n| workload | contender |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("results.md lacks %q:\n%s", want, text.String())
		}
	}
}
