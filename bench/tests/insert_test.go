package tests

import (
	"os/exec"
	"testing"

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
	if len(r.Figures) != 6 || r.Incomplete != "" {
		t.Errorf("%d figures, incomplete: %q; expected 6 keys", len(r.Figures), r.Incomplete)
	}
	for _, f := range r.Figures {
		if f.PerSecond.Median <= 0 || f.Also["WAL bytes, each"].Median < 64 ||
			f.Also["index of the key, MiB"].Median < 2000*16.0/(1<<20) {
			t.Errorf("incomplete: %+v", f)
		}
	}
}
