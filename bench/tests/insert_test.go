package tests

import (
	"os/exec"
	"path/filepath"
	"testing"

	"pgflurry/bench/report"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestTheInsertBenchmarkReportsRowsLogAndIndexOfEveryKey(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	out := t.TempDir()
	measured(t,
		exec.Command(binary, "insert", "--rows", "2000", "--rounds", "1", "--out", out, "--pgflurry", program.Path(t)))
	r := read(t, out)
	if len(r.Figures) != 7 || r.Kind != report.KindInserts || r.Incomplete != "" {
		t.Errorf("%d figures of kind %s, incomplete: %q; expected 7 keys", len(r.Figures), r.Kind, r.Incomplete)
	}
	for _, f := range r.Figures {
		if f.PerSecond.Median <= 0 || f.WAL == nil || f.WAL.Median < 64 || f.Index == nil || f.Index.Median < 2000*16 {
			t.Errorf("incomplete: %+v", f)
		}
	}
	for _, name := range []string{"throughput-*.svg", "throughput-*.png", "index-*.svg", "index-*.png"} {
		if found, _ := filepath.Glob(filepath.Join(out, name)); len(found) != 1 {
			t.Errorf("charts %s: %v; expected one", name, found)
		}
	}
}
