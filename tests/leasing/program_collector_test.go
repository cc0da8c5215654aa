package leasing

import (
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"pgflurry/inprocess"
)

func collectors(g *inprocess.Generator) []prometheus.Collector {
	gauge := func(name, help string, value func(inprocess.Stats) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
			return value(g.Stats())
		})
	}
	return []prometheus.Collector{
		gauge("ids_reserve_seconds", "How long IDs go on without the database.",
			func(s inprocess.Stats) float64 { return s.Reserve.Seconds() }),
		gauge("ids_renewed_seconds", "How long ago the lease was renewed.",
			func(s inprocess.Stats) float64 { return s.Renewed.Seconds() }),
		gauge("ids_worker", "The worker in the IDs.",
			func(s inprocess.Stats) float64 { return float64(s.Worker) }),
	}
}

func TestTheCollectorThatThePageLinksRunsAndShowsTheLease(t *testing.T) {
	t.Parallel()
	g := open(t, shortWindows(t), "watched")
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors(g)...)
	found := map[string]float64{}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		found[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
	}
	if found["ids_worker"] != float64(g.Stats().Worker) || found["ids_reserve_seconds"] <= 0 {
		t.Errorf("the metrics are %v", found)
	}
	page, err := os.ReadFile("../../docs/in-your-program.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "](../tests/leasing/program_collector_test.go)") {
		t.Error("docs/in-your-program.md does not link this file")
	}
}
