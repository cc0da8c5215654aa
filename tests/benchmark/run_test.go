package benchmark

import (
	"testing"

	"pgflurry/bench"
)

func TestTheIDBenchmarkReportsEverySource(t *testing.T) {
	out := t.TempDir()
	p := start(t, out, "run", "--clients", "3", "--rounds", "1", "--duration", "200ms")
	if code := p.End(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	r := read(t, out)
	if len(r.Figures) != 20 || r.Incomplete != "" || r.Kind != bench.KindIDs {
		t.Errorf("%d figures, incomplete: %q; expected 20 sources", len(r.Figures), r.Incomplete)
	}
	for _, f := range r.Figures {
		_, front := f.CPU[bench.Middle]
		_, database := f.CPU[bench.Database]
		_, compared := f.Ratios[bench.Nextval]
		switch {
		case f.PerSecond.Median <= 0 || len(f.Latency) != 3 || f.WAL == nil || !database || front != f.Through || compared != (f.Contender != bench.Nextval):
			t.Errorf("incomplete: %+v", f)
		case f.Latency["p50"].Median > f.Latency["p99"].Median || f.Latency["p99"].Median > f.Latency["p99.9"].Median:
			t.Errorf("percentiles out of order: %+v", f.Latency)
		}
	}
}
