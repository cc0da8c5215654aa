package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pgflurry/histogram"
	"pgflurry/recent"
	"pgflurry/report"
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
	state      *recent.Value[report.State]
	families   []described[family]
	histograms []described[durations]

	mu   sync.Mutex
	tags map[tag]bool // those that have a series of their own
}

type described[T any] struct {
	as *prometheus.Desc
	of T
}

func newCollector(state *recent.Value[report.State]) *collector {
	c := &collector{state: state, tags: make(map[tag]bool)}
	for _, f := range slices.Concat(families, upstreamFamilies, idFamilies) {
		as := prometheus.NewDesc(prefix+f.name, f.help, f.labels, nil)
		c.families = append(c.families, described[family]{as, f})
	}
	for _, h := range histograms {
		as := prometheus.NewDesc(prefix+h.name, h.help, nil, nil)
		c.histograms = append(c.histograms, described[durations]{as, h})
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(into chan<- *prometheus.Desc) {
	for _, f := range c.families {
		into <- f.as
	}
	for _, h := range c.histograms {
		into <- h.as
	}
}

// Collect reads one State, so all metrics of a scrape are from one moment.
func (c *collector) Collect(into chan<- prometheus.Metric) {
	s := c.state.Fresh()
	s.Segments = c.bounded(s.Segments)
	for _, f := range c.families {
		given := make(map[string]bool)
		f.of.read(s, func(value float64, labels ...string) {
			for i := range labels {
				labels[i] = strings.ToValidUTF8(labels[i], "\uFFFD") // labels must be valid UTF-8
			}
			// One file may be listed as two certificates. Two samples with the same labels would fail the whole scrape.
			if series := strings.Join(labels, "\xff"); !given[series] {
				given[series] = true
				into <- prometheus.MustNewConstMetric(f.as, f.of.kind, value, labels...)
			}
		})
	}
	for _, h := range c.histograms {
		if h.of.ids && s.IDDatabase.Name == "" {
			continue
		}
		into <- constHistogram(h.as, h.of.read(s))
	}
}

func constHistogram(as *prometheus.Desc, s histogram.Snapshot) prometheus.Metric {
	buckets := make(map[float64]uint64, len(s.Bounds))
	for i, bound := range s.Bounds {
		buckets[bound.Seconds()] = s.Counts[i]
	}
	return prometheus.MustNewConstHistogram(as, s.Count(), s.Sum.Seconds(), buckets)
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

// builtWith is the Go release.
func builtWith() string { return runtime.Version() }

// number formats a label.
func number(n int) string { return fmt.Sprint(n) }
