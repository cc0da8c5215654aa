package tests

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/driver"
	"pgflurry/bench/trial"
	"pgflurry/tests/support/server"
)

var modes = map[string]driver.Mode{"simple": driver.Simple, "prepared": driver.Prepared, "pipelined": driver.Pipelined}

func TestADrawCountsWhatItGotInEveryMode(t *testing.T) {
	url := server.Database(t)
	for name, mode := range modes {
		d := driver.Draw{SQL: "SELECT generate_series(1, 3)", Mode: mode, Rows: 3, Clients: 2}
		count, err := d.From(url)(t.Context(), 50*time.Millisecond, trial.Unwatched)
		if err != nil || count.Operations == 0 || count.Operations%3 != 0 || count.Elapsed < 50*time.Millisecond ||
			count.Latency["p50"] <= 0 {
			t.Errorf("%s: %+v, error %v", name, count, err)
		}
	}
}

func TestADrawThatGetsSomethingElseIsAnErrorAndNoFigure(t *testing.T) {
	url := server.Database(t)
	for name, mode := range modes {
		for sql, want := range map[string]string{
			"SELECT 1 WHERE false": "0 came", "SELECT 1 / (random() * 0)::int": "22012",
		} {
			d := driver.Draw{SQL: sql, Mode: mode, Rows: 1, Clients: 2}
			if count, err := d.From(url)(t.Context(), 50*time.Millisecond, trial.Unwatched); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %+v, error %v; expected %q", name, sql, count, err, want)
			}
		}
	}
}

var plain = map[string]func(target, sql string) (driver.FixedBytes, error){
	"simple": driver.SimpleBytes, "prepared": driver.PreparedBytes,
}

func TestFixedBytesDrawAsManyAsTheyCountAndOneBefore(t *testing.T) {
	url := server.Database(t)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CREATE SEQUENCE drawn"); err != nil {
		t.Fatal(err)
	}
	counted, last := int64(0), int64(-1)
	for name, draw := range plain {
		d, err := draw(url, "SELECT nextval('drawn')")
		if err != nil {
			t.Fatal(err)
		}
		count, err := d.From()(t.Context(), 50*time.Millisecond, trial.Unwatched)
		if err != nil || count.Operations == 0 {
			t.Errorf("%s: %+v, error %v", name, count, err)
		}
		counted += count.Operations + 1 // and the first one, which does not count
	}
	if err := conn.QueryRow(t.Context(), "SELECT last_value FROM drawn").Scan(&last); err != nil || last != counted {
		t.Errorf("%d were counted, %d were drawn (error %v)", counted, last, err)
	}
}

func TestFixedBytesThatGetSomethingElseAreAnErrorAndNoFigure(t *testing.T) {
	url := server.Database(t)
	for name, draw := range plain {
		for sql, want := range map[string]string{
			"SELECT 1 WHERE false": "0 came", "SELECT 1 / (random() * 0)::int": "22012",
		} {
			d, err := draw(url, sql)
			if err != nil {
				t.Fatal(err)
			}
			if count, err := d.From()(t.Context(), 50*time.Millisecond, trial.Unwatched); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %+v, error %v; expected %q", name, sql, count, err, want)
			}
		}
	}
}
