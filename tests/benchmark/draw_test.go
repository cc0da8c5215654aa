package benchmark

import (
	"strings"
	"testing"
	"time"

	"pgflurry/bench"
	"pgflurry/tests/server"
)

var modes = map[string]bench.Mode{"simple": bench.Simple, "prepared": bench.Prepared, "pipelined": bench.Pipelined}

func TestADrawCountsWhatItGotInEveryMode(t *testing.T) {
	url := server.Database(t)
	for name, mode := range modes {
		d := bench.Draw{SQL: "SELECT generate_series(1, 3)", Mode: mode, Rows: 3, Clients: 2}
		count, err := d.From(url)(t.Context(), 50*time.Millisecond)
		if err != nil || count.Operations == 0 || count.Operations%3 != 0 || count.Elapsed < 50*time.Millisecond || count.Latency["p50"] <= 0 {
			t.Errorf("%s: %+v, error %v", name, count, err)
		}
	}
}

func TestADrawThatGetsSomethingElseIsAnErrorAndNoFigure(t *testing.T) {
	url := server.Database(t)
	for name, mode := range modes {
		for sql, want := range map[string]string{"SELECT 1 WHERE false": "0 came", "SELECT 1 / (random() * 0)::int": "22012"} {
			d := bench.Draw{SQL: sql, Mode: mode, Rows: 1, Clients: 2}
			if count, err := d.From(url)(t.Context(), 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %+v, error %v; expected %q", name, sql, count, err, want)
			}
		}
	}
}
