package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pgflurry/internal/report"
)

// scrapes is how many may run at once.
const scrapes = 4

// prefix begins the names of our metrics.
const prefix = "pgflurry_"

// metrics answers GET /metrics in Prometheus' text format, or in OpenMetrics if the request asks for that.
func (s *Server) metrics(mux *http.ServeMux) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(newCollector(s.state), collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog: scrapeLog{s.log}, MaxRequestsInFlight: scrapes,
		EnableOpenMetrics: true,
	}))
}

// scrapeLog logs errors of a scrape. A client that leaves in the middle is no error, and could fill the log.
type scrapeLog struct{ log *slog.Logger }

// Println implements promhttp.Logger.
func (l scrapeLog) Println(values ...any) {
	level := slog.LevelError
	for _, value := range values {
		if err, is := value.(error); is && errors.As(err, new(*net.OpError)) {
			level = slog.LevelDebug
		}
	}
	l.log.Log(context.Background(), level, strings.TrimSpace(fmt.Sprintln(values...)))
}

// collector turns one State into metrics. It counts nothing: all counters are the node's.
type collector struct {
	state *report.Recent[report.State]
	as    map[string]*prometheus.Desc // by the name in the table

	mu   sync.Mutex
	tags map[tag]bool // those that have a series of their own
}

func newCollector(state *report.Recent[report.State]) *collector {
	c := &collector{state: state, as: make(map[string]*prometheus.Desc), tags: make(map[tag]bool)}
	for _, m := range table(report.State{}) {
		c.as[m.name] = prometheus.NewDesc(prefix+m.name, m.help, strings.Fields(m.labels), nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(into chan<- *prometheus.Desc) {
	for _, as := range c.as {
		into <- as
	}
}

// Collect reads one State, so all metrics of a scrape are from one moment.
func (c *collector) Collect(into chan<- prometheus.Metric) {
	s := c.state.Anew()
	s.Segments = c.bounded(s.Segments)
	for _, m := range table(s) {
		given := make(map[string]bool)
		for _, v := range m.values {
			for i := range v.labels {
				v.labels[i] = strings.ToValidUTF8(v.labels[i], "\uFFFD") // labels must be valid UTF-8
			}
			// One file may be listed as two certificates. Two samples with the same labels would fail the whole scrape.
			if series := strings.Join(v.labels, "\xff"); !given[series] {
				given[series] = true
				into <- m.kind(c.as[m.name], v)
			}
		}
	}
}

// mostTags is how many tags have a series of their own. The others share one series for each database.
const (
	mostTags = 100
	otherTag = "other"
)

type tag struct{ database, name string }

// bounded adds up the segments of all tags beyond the first hundred. A tag that once had a series keeps it: otherwise
// its counter would seem to fall.
func (c *collector) bounded(segments []report.Segment) []report.Segment {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []report.Segment
	at := make(map[tag]int)
	for _, s := range segments {
		of := tag{strings.ToValidUTF8(s.Database, "\uFFFD"), strings.ToValidUTF8(s.Tag, "\uFFFD")}
		if !c.tags[of] && len(c.tags) < mostTags {
			c.tags[of] = true
		}
		if !c.tags[of] {
			of.name = otherTag
		}
		i, met := at[of]
		if !met {
			i = len(all)
			at[of] = i
			all = append(all, report.Segment{Database: of.database, Tag: of.name})
		}
		all[i].Left += s.Left
		all[i].Given += s.Given
		all[i].Skipped += s.Skipped
		all[i].Fetches += s.Fetches
	}
	return all
}
