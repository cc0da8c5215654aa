package driver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const pgbenchSaid = `pgbench (15.18)
transaction type: select.sql
number of transactions actually processed: 3000
number of failed transactions: 0 (0.000%)
latency average = 0.066 ms
initial connection time = 4.111 ms
tps = 1500.0 (without initial connection time)
`

func TestPgbenchIsUnderstoodOrRefused(t *testing.T) {
	c, err := readPgbench(pgbenchSaid, "", PgbenchRun{Clients: 3})
	if err != nil || c.Operations != 3000 || c.Elapsed != 2*time.Second ||
		c.Latency["mean"] != 2*time.Millisecond {
		t.Errorf("%+v, error %v; expected 3000 in 2s", c, err)
	}
	for from, to := range map[string]string{
		"failed transactions: 0": "failed transactions: 3", "processed: 3000": "processed: 0", "tps": "TPS",
		"without": "with",
	} {
		if c, err := readPgbench(strings.Replace(pgbenchSaid, from, to, 1), "", PgbenchRun{}); err == nil {
			t.Errorf("with %q it was read as %+v", to, c)
		}
	}
}

func TestTheTimeInWhichARunSettlesIsNotInItsSpeed(t *testing.T) {
	const progress = "progress: 1.0 s, 10.0 tps, lat 1 ms\nprogress: 2.0 s, 20.0 tps\n" +
		"progress: 3.0 s, 1000.0 tps\nprogress: 5.0 s, 4000.0 tps\n"
	c, err := readPgbench(pgbenchSaid, progress, PgbenchRun{Clients: 3, Settle: 2 * time.Second})
	if err != nil || c.Operations != 3000 || c.Elapsed != time.Second ||
		c.Latency["mean"] != time.Millisecond {
		t.Errorf("%+v, error %v; expected 3000 a second, the mean of the three seconds after the second", c, err)
	}
	if c, err := readPgbench(pgbenchSaid, progress, PgbenchRun{Settle: 5 * time.Second}); err == nil {
		t.Errorf("without a line after it: %+v", c)
	}
}

func TestTheLogOfAnOpenLoopIsReadWhole(t *testing.T) {
	folder := t.TempDir()
	for name, lines := range map[string]string{
		"trips.1": "0 1 100 0 5 1\n1 1 300 0 6 1\n", "trips.1.1": "2 1 200 0 7 2\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readTrips(folder, 0); err != nil || got["p50"] != 200*time.Microsecond ||
		got["max"] != 300*time.Microsecond || got["mean"] != 200*time.Microsecond {
		t.Errorf("%v, error %v", got, err)
	}
	if got, err := readTrips(folder, time.Second); err != nil || got["mean"] != 250*time.Microsecond {
		t.Errorf("a second after the first: %v, error %v; expected those of 200 and 300 µs", got, err)
	}
	if err := os.WriteFile(filepath.Join(folder, "trips.2"), []byte("0 1 skipped 0 1 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := readTrips(folder, 0); err == nil {
		t.Errorf("a line without a time is read as %v", got)
	}
}
