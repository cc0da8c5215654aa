//go:build full

package simulation

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/race"
	"pgflurry/tests/support/volume"
)

// update writes the results of the simulation into docs/operations.md. The column of the large fleet changes only with
// PGFLURRY_TEST_SCALE.
var update = flag.Bool("update", false, "write the simulated table into docs/operations.md")

const page = "../../docs/operations.md"

func TestTheSimulatedTableOfThePageIsWhatTheSimulationGives(t *testing.T) {
	if race.Enabled {
		t.Skip("the same without the race detector, which makes minutes of it; the tests of herds run with it, too")
	}
	text, err := os.ReadFile(page)
	must(err)
	whole, large := string(text), os.Getenv("PGFLURRY_TEST_SCALE") != ""
	for i, c := range scenarios {
		if c.large && !large || c.proxies > volume.Of(100, c.proxies) {
			continue
		}
		inFleet(t, c.fleetSettings, func(f *fleet) {
			for _, u := range upheavals {
				whole = withCell(t, whole, u.name, i, f.tell(u, c.proxies))
				f.pass(4 * time.Minute)
			}
		})
	}
	if *update {
		must(os.WriteFile(page, []byte(whole), 0o644))
	} else if whole != string(text) {
		t.Errorf("%s is not what the simulation gives; look at what this changes in it: "+
			"go test -tags full ./tests/simulation -run %s -update", page, t.Name())
	}
}

// withCell returns the page with a value in one row of its table. Columns are counted without the first.
func withCell(t *testing.T, page, row string, column int, value string) string {
	t.Helper()
	line := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row) + ` \|.*$`).FindString(page)
	cells := strings.Split(line, " | ")
	if len(cells) != 1+len(scenarios) {
		t.Fatalf("the page has no row %q with %d columns behind it", row, len(scenarios))
	}
	cells[column+1] = value
	return strings.Replace(page, line, strings.TrimSuffix(strings.Join(cells, " | "), " |")+" |", 1)
}

// The page says how many workers to plan. A simulated fleet takes as many, or some fewer.
func TestAFleetTakesAsManyWorkersAsThePagePlans(t *testing.T) {
	if race.Enabled {
		t.Skip("the same without the race detector, which makes minutes of it")
	}
	const proxies = 200
	for _, c := range changes {
		for window, planned := range map[time.Duration]int{time.Minute: c.planned.minute, time.Hour: c.planned.hour} {
			inFleet(t, fleetSettings{capacity: unlimited.capacity, window: window, workerBits: 12}, func(f *fleet) {
				if took := f.needed(c, proxies); took > planned || took < planned*9/10 {
					t.Errorf("%s, with a window of %v: %d workers, by docs/operations.md %d", c.name, window, took,
						planned)
				}
			})
		}
	}
}
