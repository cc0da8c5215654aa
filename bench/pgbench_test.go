package bench

import (
	"fmt"
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
	c, err := readPgbench(pgbenchSaid)
	if err != nil || c.Operations != 3000 || c.Elapsed != 2*time.Second {
		t.Errorf("%+v, error %v; expected 3000 in 2s", c, err)
	}
	for from, to := range map[string]string{"failed transactions: 0": "failed transactions: 3", "processed: 3000": "processed: 0", "tps": "TPS", "without": "with"} {
		if c, err := readPgbench(strings.Replace(pgbenchSaid, from, to, 1)); err == nil {
			t.Errorf("with %q it was read as %+v", to, c)
		}
	}
}

func TestEachScriptDoesAsMuchAsItIsCountedFor(t *testing.T) {
	for file, want := range map[string]struct {
		statement string
		times     int
	}{
		"pipelined.sql":           {"SELECT 1;", pipelineLength},
		"pipelined_nextval.sql":   {"SELECT nextval('pgflurry_bench.ids');", pipelineLength},
		"pipelined_snowflake.sql": {"SELECT next_snowflake();", pipelineLength},
		"bulk_nextval.sql":        {fmt.Sprintf("SELECT count(nextval('pgflurry_bench.ids')) FROM generate_series(1, %d);", bulkSize), 1},
		"bulk_snowflake.sql":      {fmt.Sprintf("SELECT count(next_snowflake()) FROM generate_series(1, %d);", bulkSize), 1},
	} {
		script, err := scripts.ReadFile("pgbench/" + file)
		if n, all := strings.Count(string(script), want.statement), strings.Count(string(script), ";"); err != nil || n != want.times || all != n {
			t.Errorf("%s has %d statements, %d of them %q (error %v); expected %d", file, all, n, want.statement, err, want.times)
		}
	}
}
