//go:build full && linux

package ha

import (
	"flag"
	"os"
	"testing"
	"time"

	"pgflurry/tests/support/machines"
	"pgflurry/tests/support/server"
)

var (
	failovers = flag.Int("ha.failovers", 0, "a storm ends when there were so many failovers, and IDs")
	leastIDs  = flag.Int64("ha.ids", 0, "a storm ends when there were so many IDs, and failovers")
	rate      = flag.Int("ha.rate", 0, "IDs a second of large draws; 0: the default of package load")
	seed      = flag.Uint64("ha.seed", 0, "of the order of faults; 0: another one each time")
	only      = flag.String("ha.faults", "", "a regular expression; other faults do not happen in storms")
	reports   = flag.String("ha.reports", "", "folder for reports, and for logs of what failed; default: only printed")
)

func TestMain(m *testing.M) {
	machines.Enter()
	os.Exit(server.Watched(m.Run))
}

// duration returns how long all storms together may last. Without the variable it skips the test.
func duration(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("PGFLURRY_TEST_HA")
	if text == "" {
		t.Skip("PGFLURRY_TEST_HA is not set, as in PGFLURRY_TEST_HA=3m")
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("PGFLURRY_TEST_HA: %v; expected a duration as 3m", err)
	}
	return d
}
