package suites

import (
	"fmt"
	"strings"
	"testing"

	"pgflurry/bench/driver"
)

func TestEachScriptDoesAsMuchAsItIsCountedFor(t *testing.T) {
	for file, want := range map[string]struct {
		statement string
		times     int
	}{
		"pipelined.sql":           {"SELECT 1;", driver.PipelineLength},
		"pipelined_nextval.sql":   {"SELECT nextval('pgflurry_bench.ids');", driver.PipelineLength},
		"pipelined_snowflake.sql": {"SELECT next_snowflake();", driver.PipelineLength},
		"bulk_nextval.sql": {
			fmt.Sprintf("SELECT count(nextval('pgflurry_bench.ids')) FROM generate_series(1, %d);", bulkSize), 1,
		},
		"bulk_snowflake.sql": {fmt.Sprintf("SELECT count(next_snowflake()) FROM generate_series(1, %d);", bulkSize), 1},
	} {
		script, err := scripts.ReadFile("pgbench/" + file)
		if n, all := strings.Count(string(script), want.statement), strings.Count(string(script), ";"); err != nil ||
			n != want.times || all != n {
			t.Errorf("%s has %d statements, %d of them %q (error %v); expected %d",
				file, all, n, want.statement, err, want.times)
		}
	}
}
