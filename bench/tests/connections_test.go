package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/bench/trial"
)

func TestTheBenchmarkOfConnectionsReportsEveryServer(t *testing.T) {
	for workloads, want := range map[string]struct {
		figures  map[string]int // by the server that they need; empty: all private ones
		verdicts int
		rows     []string
	}{
		"memory,connect": {map[string]int{"": 4 * 3, "Redis": 3, "PgBouncer": 3}, 1, []string{
			"| connections that stay idle | KiB of memory, each |", "| connect with a password, 1 client | p50, ms |",
		}},
		"single,beside": {map[string]int{"": 4 + 4*3, "Redis": 1, "PgBouncer": 1 + 3}, 6, []string{
			"| one per round trip, simple, 2 clients | IDs per second |",
			"| one per round trip, beside clients that draw 10,000 a statement, 8 clients | p50, ms |",
		}},
	} {
		t.Run(workloads, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir()
			measured(t, command(t, out, "connections", "--workloads", workloads, "--clients", "2", "--idle", "30",
				"--rounds", "1", "--duration", "200ms"))
			r := read(t, out)
			figures := want.figures[""]
			for program, name := range map[string]string{"redis-server": "Redis", "pgbouncer": "PgBouncer"} {
				if r.Versions[name] != "" {
					figures += want.figures[name]
				} else if os.Getenv(required[program]) == "1" {
					t.Errorf("%s: not run: %v", program, r.NotRun)
				}
			}
			if len(r.Figures) != figures || len(r.Verdicts) != want.verdicts || r.Incomplete != "" ||
				r.Kind != report.KindConnections {
				t.Errorf("%d figures, %d verdicts, incomplete: %q; expected %d and %d (not run: %v)",
					len(r.Figures), len(r.Verdicts), r.Incomplete, figures, want.verdicts, r.NotRun)
			}
			for _, f := range r.Figures {
				everyConnectionFigureIsWhole(t, f)
			}
			hasColumnsOfServers(t, out, want.rows)
		})
	}
}

func everyConnectionFigureIsWhole(t *testing.T, f report.Figure) {
	t.Helper()
	stays := f.Task == "connections that stay idle"
	if f.PerSecond.Median <= 0 || f.ServerCPU == nil || (f.Memory != nil) != stays || (len(f.Latency) == 0) != stays ||
		stays && f.Memory.Median <= 0 {
		t.Errorf("incomplete: %+v", f)
	}
	if !stays && f.Latency["p99"].Median > f.Latency[trial.Max].Median {
		t.Errorf("the longest is shorter than most: %+v", f.Latency)
	}
}

// hasColumnsOfServers checks the table with all figures of a server in one column.
func hasColumnsOfServers(t *testing.T, out string, rows []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	across, _, _ := strings.Cut(string(text), "All figures:")
	for _, row := range rows {
		if !strings.Contains(across, row) || strings.Count(across, "next_snowflake, ID database") != 1 {
			t.Errorf("the table of all servers lacks %q, or a column of the ID database:\n%s", row, across)
		}
	}
}
