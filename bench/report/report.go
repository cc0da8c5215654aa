package report

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pgflurry/bench/trial"
)

// Report is everything that a run has found. results.json is its encoding. Tables and charts are made from it alone.
type Report struct {
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
	// Incomplete says why the run ended early; empty if it did not.
	Incomplete string `json:"incomplete,omitempty"`
	// NotRun lists what was left out, and why.
	NotRun   []string       `json:"not_run,omitempty"`
	Figures  []Figure       `json:"figures"`
	Verdicts []Verdict      `json:"verdicts,omitempty"`
	Samples  []trial.Sample `json:"samples"`
}

// Figure is one line of the table: a contender at a workload, over the rounds.
type Figure struct {
	Workload  string `json:"workload"`
	Task      string `json:"task"`              // the workload without its number of clients
	Clients   int    `json:"clients,omitempty"` // 0 if the workload has no such number
	Counts    string `json:"counts"`            // name of an operation, plural: "statements"
	Contender string `json:"contender"`
	Through   bool   `json:"through"` // through a server in front of PostgreSQL
	PerSecond Spread `json:"per_second"`
	// Ratios are to the throughput of other contenders of the workload, by their names. CPURatios are to the processor
	// time.
	Ratios    map[string]Spread `json:"ratios,omitempty"`
	CPURatios map[string]Spread `json:"cpu_ratios,omitempty"`
	// CPU is the processor time of an operation in microseconds, by role. Roles without a measurement are missing.
	CPU map[string]Spread `json:"cpu_microseconds,omitempty"`
	// ServerCPU is that of all servers, or of this process if there is no server; nil if not measured.
	ServerCPU *Spread `json:"server_cpu_microseconds,omitempty"`
	// Latency has the mean and percentiles of a round trip in microseconds.
	Latency map[string]Spread `json:"latency_microseconds,omitempty"`
	// Also are further figures, by a name with their unit.
	Also map[string]Spread `json:"also,omitempty"`
}

// Tabulate turns samples into figures, in the order of the plan's trials. Trials without a sample have no figure. bases
// are the contenders for ratios.
func Tabulate(trials []trial.Trial, samples []trial.Sample, bases []string) (figures []Figure) {
	of := make(map[[2]string][]trial.Sample)
	for _, s := range samples {
		of[[2]string{s.Workload, s.Contender}] = append(of[[2]string{s.Workload, s.Contender}], s)
	}
	for _, t := range trials {
		own := of[[2]string{t.Workload.Name, t.Contender}]
		if len(own) == 0 {
			continue
		}
		f := Figure{
			Workload: t.Workload.Name, Task: t.Workload.Task, Clients: t.Workload.Clients, Counts: t.Workload.Counts,
			Contender: t.Contender, Through: t.Through,
		}
		speeds, cpu, latency, also := []float64{}, figuresBy{}, figuresBy{}, figuresBy{}
		for _, s := range own {
			speeds = append(speeds, s.PerSecond())
			for role := range s.Spent {
				if each, measured := s.CPUEach(role); measured {
					cpu.add(role, each)
				}
			}
			if each, measured := cpuOf(s); measured {
				cpu.add("", each)
			}
			for name, took := range s.Latency {
				latency.add(name, float64(took)/float64(time.Microsecond))
			}
			for name, figure := range s.Also {
				also.add(name, figure)
			}
		}
		f.PerSecond, f.CPU, f.Latency, f.Also = SpreadOf(speeds), cpu.spreads(), latency.spreads(), also.spreads()
		if all, measured := f.CPU[""]; measured {
			f.ServerCPU = &all
			delete(f.CPU, "")
		}
		speedRatios, cpuRatios := figuresBy{}, figuresBy{}
		for _, base := range bases {
			for _, theirs := range of[[2]string{f.Workload, base}] {
				for _, s := range own {
					if base == f.Contender || s.Round != theirs.Round {
						continue
					}
					speedRatios.add(base, s.PerSecond()/theirs.PerSecond())
					mine, measured := cpuOf(s)
					if other, too := cpuOf(theirs); measured && too && other > 0 {
						cpuRatios.add(base, mine/other)
					}
				}
			}
		}
		f.Ratios, f.CPURatios = speedRatios.spreads(), cpuRatios.spreads()
		figures = append(figures, f)
	}
	return figures
}

// cpuOf is the processor time of an operation by the servers, or by this process if there is no server.
func cpuOf(s trial.Sample) (each float64, measured bool) {
	if each, measured := s.ServerCPUEach(); measured {
		return each, true
	}
	return s.CPUEach(trial.Self)
}

// figuresBy are the figures of the rounds, by name.
type figuresBy map[string][]float64

func (f figuresBy) add(name string, figure float64) { f[name] = append(f[name], figure) }

func (f figuresBy) spreads() map[string]Spread {
	all := make(map[string]Spread, len(f))
	for name, figures := range f {
		all[name] = SpreadOf(figures)
	}
	return all
}

// Write replaces the results in a folder: results.json has everything, results.md the table, NAME.svg the charts. A
// report without a sample replaces nothing. It prints the names of the files.
func (r *Report) Write(folder string, out io.Writer) error {
	if len(r.Samples) == 0 {
		return nil
	}
	old, err := filepath.Glob(filepath.Join(folder, "*.svg"))
	if err != nil {
		return err
	}
	for _, chart := range old {
		if err := os.Remove(chart); err != nil {
			return err
		}
	}
	content, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	files := map[string][]byte{"results.json": append(content, '\n'), "results.md": []byte(r.markdown())}
	for name, chart := range r.charts() {
		if files[name+".svg"], err = chart.svg(); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(folder, name), files[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, "written:", filepath.Join(folder, name))
	}
	return nil
}

// markdown is the report for people: what it is to hold first, then all figures.
func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n`%s`\n\n", r.Title, r.Command)
	fmt.Fprintf(&b, "%s, %s, %s, %s.\n\n", r.Began.UTC().Format("2006-01-02"),
		trial.Counted(r.Machine.CPUs, "CPU")+" ("+r.Machine.Processor+")", r.Machine.System, r.Machine.Go)
	fmt.Fprintf(&b, "%s.\n\n%s.\n\n", Pairs(r.Versions, ": ", "; "), Pairs(r.Settings, ": ", "; "))
	if r.Incomplete != "" {
		fmt.Fprintf(&b, "**Incomplete:** %s.\n\n", r.Incomplete)
	}
	for _, what := range r.NotRun {
		fmt.Fprintf(&b, "Not run: %s.\n\n", what)
	}
	if r.Summary != "" {
		fmt.Fprintf(&b, "%s\n\n", r.Summary)
	}
	if len(r.Verdicts) > 0 {
		b.WriteString("| claim | figure | target | |\n|---|--:|--:|---|\n")
		for _, v := range r.Verdicts {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", v.Claim, v.figure(), v.target(), v.word())
		}
		b.WriteString("\n")
	}
	columns := r.columns()
	for _, c := range columns {
		fmt.Fprintf(&b, "| %s ", c.head)
	}
	const names = 2 // columns with a name; all others have numbers
	fmt.Fprintf(&b, "|\n%s%s|\n", strings.Repeat("|---", names), strings.Repeat("|--:", len(columns)-names))
	for _, f := range r.Figures {
		for _, c := range columns {
			fmt.Fprintf(&b, "| %s ", c.cell(f))
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// Pairs formats names and values, in the order of the names.
func Pairs(of map[string]string, is, next string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, name+is+of[name])
	}
	return strings.Join(all, next)
}
