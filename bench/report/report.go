package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"pgflurry/bench/statistics"
	"pgflurry/bench/trial"
)

// Kinds of reports.
const (
	KindPassThrough = "pass-through"
	KindIDs         = "ids"
	KindInserts     = "inserts"
	KindTargets     = "targets"
	KindInProcess   = "in-process"
	KindConnections = "connections"
)

// Report is everything that a run has found. results.json is its encoding, and results.md is made from it alone.
type Report struct {
	Kind     string            `json:"kind"` // one of the kinds above
	Title    string            `json:"title"`
	Command  string            `json:"command"`
	Began    time.Time         `json:"began"`
	Settings map[string]string `json:"settings"`
	Versions map[string]string `json:"versions"`
	Machine  Machine           `json:"machine"`
	// Quick marks a quick look, with few sources and short turns.
	Quick bool `json:"quick,omitempty"`
	// Summary says in a sentence what was found; may be empty.
	Summary string `json:"summary,omitempty"`
	// ClientsAre says what Figure.Clients counts: "goroutines". Empty: clients.
	ClientsAre string `json:"clients_are,omitempty"`
	// Incomplete says why the run ended early; empty if it did not.
	Incomplete string `json:"incomplete,omitempty"`
	// NotRun lists what was left out, and why.
	NotRun   []string       `json:"not_run,omitempty"`
	Figures  []Figure       `json:"figures"`
	Verdicts []Verdict      `json:"verdicts"`
	Samples  []trial.Sample `json:"samples"`
}

// ByWhat says what Figure.Clients counts.
func (r *Report) ByWhat() string { return cmp.Or(r.ClientsAre, "clients") }

// Figure is one line of the table.
type Figure struct {
	Workload  string                       `json:"workload"`
	Task      string                       `json:"task"`              // the workload without its number of clients
	Clients   int                          `json:"clients,omitempty"` // 0 if the workload has no such number
	Counts    string                       `json:"counts"`            // name of an operation, plural: "statements"
	Contender string                       `json:"contender"`
	PerSecond statistics.Spread            `json:"per_second"`
	Ratios    map[string]statistics.Spread `json:"ratios"`  // to other contenders of the workload
	Through   bool                         `json:"through"` // through a server in front of PostgreSQL
	// CPU is the processor time per operation in microseconds, by role. Roles without a measurement are missing.
	CPU map[string]statistics.Spread `json:"cpu_microseconds"`
	// ServerCPU is the sum of all servers; nil if none was measured.
	ServerCPU *statistics.Spread `json:"server_cpu_microseconds,omitempty"`
	// CPURatios compare it with that of other contenders of the workload.
	CPURatios map[string]statistics.Spread `json:"cpu_ratios,omitempty"`
	// Busy is how many processors the measuring process kept busy; nil if not measured.
	Busy *statistics.Spread `json:"processors_busy,omitempty"`
	// Latency has percentiles of a round trip in microseconds, each with its spread over the rounds.
	Latency map[string]statistics.Spread `json:"latency_microseconds,omitempty"`
	WAL     *statistics.Spread           `json:"wal_bytes,omitempty"` // bytes per operation; nil if not measured
	// size of the whole primary key; nil if there is none
	Index *statistics.Spread `json:"index_bytes,omitempty"`
	// Memory of all servers for one connection, in bytes; nil if not measured.
	Memory *statistics.Spread `json:"memory_bytes,omitempty"`
}

// Tabulate turns samples into figures, in the order of the plan's trials. Trials without a sample have no figure. bases
// are the contenders for ratios.
func Tabulate(trials []trial.Trial, samples []trial.Sample, bases []string) []Figure {
	var figures []Figure
	for _, t := range trials {
		f := Figure{
			Workload: t.Workload.Name, Task: t.Workload.Task, Clients: t.Workload.Clients, Counts: t.Workload.Counts,
			Contender: t.Contender, Through: t.Through, Ratios: make(map[string]statistics.Spread),
			CPU: make(map[string]statistics.Spread), CPURatios: make(map[string]statistics.Spread),
			Latency: make(map[string]statistics.Spread),
		}
		var speeds, logged, indexes, busy, together, kept []float64
		cpu, trips := make(map[string][]float64), make(map[string][]float64)
		for _, s := range samples {
			if s.Workload != t.Workload.Name || s.Contender != t.Contender {
				continue
			}
			speeds = append(speeds, s.PerSecond())
			for role := range s.CPU {
				if each, measured := s.CPUEach(role); measured {
					cpu[role] = append(cpu[role], each)
				}
			}
			if each, measured := s.ServerCPUEach(); measured {
				together = append(together, each)
			}
			for name, took := range s.Latency {
				trips[name] = append(trips[name], float64(took.Microseconds()))
			}
			if spent, measured := s.CPU[trial.Self]; measured {
				busy = append(busy, spent.Seconds()/s.Elapsed.Seconds())
			}
			if each, measured := s.WALEach(); measured {
				logged = append(logged, each)
			}
			if size, measured := s.IndexBytes(); measured {
				indexes = append(indexes, size)
			}
			if each, measured := s.MemoryEach(); measured {
				kept = append(kept, each)
			}
		}
		if len(speeds) == 0 {
			continue
		}
		f.PerSecond = statistics.SpreadOf(speeds)
		for role, each := range cpu {
			f.CPU[role] = statistics.SpreadOf(each)
		}
		for name, took := range trips {
			f.Latency[name] = statistics.SpreadOf(took)
		}
		f.WAL, f.Index, f.Busy, f.ServerCPU = measured(logged), measured(indexes), measured(busy), measured(together)
		f.Memory = measured(kept)
		f.compare(samples, bases)
		figures = append(figures, f)
	}
	return figures
}

// compare computes the ratios to those bases that did the same work.
func (f *Figure) compare(samples []trial.Sample, bases []string) {
	for _, base := range bases {
		if base == f.Contender {
			continue
		}
		if speeds := ratios(samples, f.Workload, f.Contender, base); len(speeds) > 0 {
			f.Ratios[base] = statistics.SpreadOf(speeds)
		}
		if spent := cpuRatios(samples, f.Workload, f.Contender, base); len(spent) > 0 {
			f.CPURatios[base] = statistics.SpreadOf(spent)
		}
	}
}

// measured is the spread of figures, or nil without figures.
func measured(figures []float64) *statistics.Spread {
	if len(figures) == 0 {
		return nil
	}
	spread := statistics.SpreadOf(figures)
	return &spread
}

// WriteJSON writes the whole report.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// WriteMarkdown writes the report for people.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n`%s`\n\n", r.Title, r.Command)
	fmt.Fprintf(&b, "%s, %s, %s, %s.\n\n", r.Began.UTC().Format("2006-01-02"),
		trial.Counted(r.Machine.CPUs, "CPU")+" ("+r.Machine.Processor+")", r.Machine.System, r.Machine.Go)
	fmt.Fprintf(&b, "%s.\n\n%s.\n\n", pairs(r.Versions, ": ", "; "), pairs(r.Settings, ": ", "; "))
	if r.Incomplete != "" {
		fmt.Fprintf(&b, "**Incomplete:** %s.\n\n", r.Incomplete)
	}
	for _, what := range r.NotRun {
		fmt.Fprintf(&b, "Not run: %s.\n\n", what)
	}
	if r.Summary != "" {
		fmt.Fprintf(&b, "%s\n\n", r.Summary)
	}
	if r.Kind == KindTargets { // readers want the verdicts first; the figures prove them
		writeVerdicts(&b, r.Verdicts)
		b.WriteString("\n")
	}
	if r.Kind == KindConnections {
		r.writeAcross(&b)
	}
	r.writeFigures(&b)
	if r.Kind != KindTargets {
		b.WriteString("\n")
		writeVerdicts(&b, r.Verdicts)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// pairs formats names and values, in the order of the names.
func pairs(of map[string]string, is, next string) string {
	var all []string
	for name, value := range of {
		all = append(all, name+is+value)
	}
	slices.Sort(all)
	return strings.Join(all, next)
}
