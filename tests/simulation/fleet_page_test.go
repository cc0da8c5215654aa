//go:build full

package simulation

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"pgflurry/tests/support/race"
	"pgflurry/tests/support/volume"
)

// update writes the results of the simulation into docs/scale.md. The rows of the large fleet change only with
// PGFLURRY_TEST_SCALE.
var update = flag.Bool("update", false, "write the simulated rows into docs/scale.md")

const page = "../../docs/scale.md"

func TestTheSimulatedTablesOfThePageAreWhatTheSimulationGives(t *testing.T) {
	if race.Enabled {
		t.Skip("the same without the race detector, which makes minutes of it; the tests of herds run with it, too")
	}
	large := os.Getenv("PGFLURRY_TEST_SCALE") != ""
	var steady, floods, spare [][]string
	for _, c := range scenarios {
		if c.large && !large || c.proxies > volume.Of(100, c.proxies) {
			continue
		}
		inFleet(t, c.fleetSettings, func(f *fleet) { steady = append(steady, f.steady(c.proxies)) })
		inFleet(t, c.fleetSettings, func(f *fleet) {
			for _, u := range upheavals {
				floods = append(floods, f.tell(u, c.proxies))
				f.pass(4 * time.Minute)
			}
		})
	}
	const proxies = 200
	for _, c := range changes {
		row := []string{c.name}
		for _, window := range []time.Duration{time.Minute, time.Hour} {
			inFleet(t, fleetSettings{capacity: unlimited.capacity, window: window, workerBits: 12}, func(f *fleet) {
				row = append(row, thousands(f.needed(c, proxies)))
			})
		}
		spare = append(spare, row)
	}
	text, err := os.ReadFile(page)
	must(err)
	whole := string(text)
	for name, rows := range map[string][][]string{"steady": steady, "floods": floods, "workers": spare} {
		whole = replaceRows(t, whole, name, rows)
	}
	if *update {
		must(os.WriteFile(page, []byte(whole), 0o644))
	} else if whole != string(text) {
		t.Errorf("%s is not what the simulation gives; look at what this changes in it: "+
			"go test ./tests/simulation -run %s -update", page, t.Name())
	}
}

// replaceRows puts rows into the table behind <!-- simulated: name -->. A row replaces the row with the same name and
// the same number of proxies.
func replaceRows(t *testing.T, page, name string, rows [][]string) string {
	t.Helper()
	before, rest, found := strings.Cut(page, "<!-- simulated: "+name+" -->\n")
	table, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatalf("the page has no table %q", name)
	}
	lines := strings.Split(table, "\n")
	for _, row := range rows {
		line := "| " + strings.Join(row, " | ") + " |"
		place := -1
		for i, old := range lines[2:] {
			if key(old) == key(line) {
				place = i + 2
			}
		}
		if place < 0 {
			lines = append(lines, line)
		} else {
			lines[place] = line
		}
	}
	return before + "<!-- simulated: " + name + " -->\n" + strings.Join(lines, "\n") + "\n\n" + after
}

// key returns the name of a row, with the number of proxies if it has one.
func key(line string) string {
	cells := strings.Split(line, " | ")
	if len(cells) == 6 {
		return cells[0] + cells[1]
	}
	return cells[0]
}
