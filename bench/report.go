package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is everything that a run has to say; results.json is its encoding, and results.md is made from it alone.
type Report struct {
	Title    string            `json:"title"`
	Command  string            `json:"command"`
	Began    time.Time         `json:"began"`
	Settings map[string]string `json:"settings"`
	Versions map[string]string `json:"versions"`
	Machine  Machine           `json:"machine"`
	// Incomplete says why the run ended early; empty if it did not.
	Incomplete string `json:"incomplete,omitempty"`
	// NotRun says what was left out, and why.
	NotRun   []string  `json:"not_run,omitempty"`
	Figures  []Figure  `json:"figures"`
	Verdicts []Verdict `json:"verdicts"`
	Samples  []Sample  `json:"samples"`
}

// Figure is one line of the table.
type Figure struct {
	Workload  string            `json:"workload"`
	Unit      string            `json:"unit"`
	Contender string            `json:"contender"`
	PerSecond Spread            `json:"per_second"`
	Ratios    map[string]Spread `json:"ratios"` // to other contenders of the workload
	// CPU is the processor time per operation in microseconds, by role; what was not measured is missing.
	CPU map[string]Spread `json:"cpu_microseconds"`
}

// Verdict is one claim with its figure.
type Verdict struct {
	Claim  string  `json:"claim"`
	Figure float64 `json:"figure"`
	Target float64 `json:"target"` // at least
}

// Holds says that the target is reached.
func (v Verdict) Holds() bool { return v.Figure >= v.Target }

func (v Verdict) word() string {
	if v.Holds() {
		return "reached"
	}
	return "missed"
}

// Tabulate folds samples into figures, in the order of the plan's trials. Trials without a sample have no line; bases are
// the contenders that ratios are taken to.
func Tabulate(trials []Trial, samples []Sample, bases []string) []Figure {
	var figures []Figure
	for _, t := range trials {
		f := Figure{
			Workload: t.Workload.Name, Unit: t.Workload.Unit, Contender: t.Contender,
			Ratios: make(map[string]Spread), CPU: make(map[string]Spread),
		}
		var speeds []float64
		cpu := make(map[string][]float64)
		for _, s := range samples {
			if s.Workload != t.Workload.Name || s.Contender != t.Contender {
				continue
			}
			speeds = append(speeds, s.PerSecond())
			for role, spent := range s.CPU {
				cpu[role] = append(cpu[role], float64(spent.Microseconds())/float64(s.Operations))
			}
		}
		if len(speeds) == 0 {
			continue
		}
		f.PerSecond = SpreadOf(speeds)
		for role, each := range cpu {
			f.CPU[role] = SpreadOf(each)
		}
		for _, base := range bases {
			if ratios := Ratios(samples, f.Workload, f.Contender, base); base != f.Contender && len(ratios) > 0 {
				f.Ratios[base] = SpreadOf(ratios)
			}
		}
		figures = append(figures, f)
	}
	return figures
}

// WriteJSON writes the whole report.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// WriteMarkdown writes what people read.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n`%s`\n\n", r.Title, r.Command)
	fmt.Fprintf(&b, "%s, %s, %s, %s. Client and servers share the machine.\n\n", r.Began.UTC().Format("2006-01-02"), counted(r.Machine.CPUs, "CPU")+" ("+r.Machine.Processor+")", r.Machine.System, r.Machine.Go)
	fmt.Fprintf(&b, "%s.\n\n%s.\n\n", pairs(r.Versions), pairs(r.Settings))
	if r.Incomplete != "" {
		fmt.Fprintf(&b, "**Incomplete:** %s.\n\n", r.Incomplete)
	}
	for _, what := range r.NotRun {
		fmt.Fprintf(&b, "Not run: %s.\n\n", what)
	}
	writeFigures(&b, r.Figures)
	writeVerdicts(&b, r.Verdicts)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeFigures(b *strings.Builder, figures []Figure) {
	b.WriteString("| workload | way | per second: median (quartiles) | to direct | to PgBouncer | µs of CPU in front, each | µs of CPU in PostgreSQL, each |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|\n")
	for _, f := range figures {
		fmt.Fprintf(b, "| %s | %s | %s (%s – %s) | %s | %s | %s | %s |\n", f.Workload, f.Contender,
			grouped(f.PerSecond.Median), grouped(f.PerSecond.Low), grouped(f.PerSecond.High),
			ratio(f, Direct), ratio(f, PgBouncer), spent(f, Middle), spent(f, Database))
	}
}

func writeVerdicts(b *strings.Builder, verdicts []Verdict) {
	if len(verdicts) == 0 {
		return
	}
	b.WriteString("\n| claim | figure | target | |\n|---|--:|--:|---|\n")
	for _, v := range verdicts {
		fmt.Fprintf(b, "| %s | %.2f | ≥ %.2f | %s |\n", v.Claim, v.Figure, v.Target, v.word())
	}
}

func ratio(f Figure, to string) string {
	r, ok := f.Ratios[to]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.2f (%.2f – %.2f)", r.Median, r.Low, r.High)
}

func spent(f Figure, role string) string {
	c, ok := f.CPU[role]
	switch {
	case !ok && role == Middle && f.Contender == Direct:
		return "–"
	case !ok:
		return "not measured"
	case c.Median < 10:
		return fmt.Sprintf("%.2f", c.Median)
	}
	return fmt.Sprintf("%.1f", c.Median)
}

// grouped is a number in groups of three digits.
func grouped(f float64) string {
	digits := fmt.Sprintf("%.0f", f)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func pairs(of map[string]string) string {
	var all []string
	for name, value := range of {
		all = append(all, name+": "+value)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// WriteTable writes the figures for a terminal.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WORKLOAD\tWAY\tPER SECOND\tQUARTILES\tTO DIRECT\tTO PGBOUNCER\tCPU IN FRONT\tCPU IN POSTGRESQL") // an error stays in the writer; Flush tells it
	for _, f := range r.Figures {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s – %s\t%s\t%s\t%s\t%s\n", strings.ReplaceAll(f.Workload, "`", ""), f.Contender,
			grouped(f.PerSecond.Median), grouped(f.PerSecond.Low), grouped(f.PerSecond.High),
			ratio(f, Direct), ratio(f, PgBouncer), spent(f, Middle), spent(f, Database))
	}
	fmt.Fprintln(t)
	for _, v := range r.Verdicts {
		fmt.Fprintf(t, "%s: %.2f (target ≥ %.2f: %s)\n", strings.ReplaceAll(v.Claim, "`", ""), v.Figure, v.Target, v.word())
	}
	return t.Flush()
}
