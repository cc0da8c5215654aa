//go:build full

package clients

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/deeds"
)

//go:embed setup.sql
var setupSQL string

//go:embed item.sql
var itemSQL string

const (
	pagePath = "../../docs/clients.md"
	again    = "run make test-clients, which writes the page"
)

// The columns of the page's tables. Two of the first are those of more deeds than one.
const (
	theRest  = "the rest"
	idColumn = "ID database"
)

var (
	driverColumns = []string{
		"driver", "version", "plain", "prepared", "batch", "mixed batch", "pool", "4 × 1,000", "DEFAULT", theRest,
		idColumn, "code", "remarks",
	}
	sentColumns = []string{"driver", "what it sends when it connects and draws"}
)

// titles has the columns of deeds, and the names of those that share column theRest.
var titles = map[string]string{
	"unprepared": "plain", "prepared": "prepared", "pipeline": "batch", "mixed": "mixed batch", "pool": "pool",
	"parallel": "4 × 1,000", "default": "DEFAULT",

	"password": "password", "scram": "SCRAM", "tls": "TLS", "transaction": "transactions", "copy": "COPY",
	"notify": "NOTIFY", "cancel": "cancel", "commit": "transactions",
}

// drawing has the deeds whose IDs the proxy gives if it can. In a transaction, and between other statements of a batch,
// that depends on the replies that PostgreSQL has sent by then. So the table does not show it for those.
var drawing = map[string]bool{"unprepared": true, "prepared": true, "pipeline": true, "pool": true, "parallel": true}

// cells are some of a driver's row, by column.
type cells map[string]string

// rowOf returns the cells of what a driver did through the proxy. The page has the legend.
func rowOf(t *testing.T, d driver, version string, proxied []deeds.Line) cells {
	t.Helper()
	row := cells{"version": version}
	var reasons, lacks []string
	if d.remark != "" {
		reasons = append(reasons, d.remark)
	}
	for _, l := range proxied {
		title, mark := titles[l.Deed], "✓"
		switch {
		case l.None != "":
			mark = "–"
			if !slices.Contains(reasons, l.None) {
				reasons = append(reasons, l.None)
			}
		case drawing[l.Deed] && 2*deeds.FromMemory(t, l.IDs) < len(l.IDs):
			mark = "(✓)"
		}
		if slices.Contains(driverColumns, title) {
			row[title] = mark
		} else if mark == "–" {
			lacks = append(lacks, title)
		}
	}
	row[theRest], row["remarks"] = allBut(lacks), strings.Join(reasons, "; ")
	return row
}

// bareRowOf returns the cell of what a driver did in the ID database. It names what only PostgreSQL answers.
func bareRowOf(t *testing.T, d driver, there []deeds.Line) cells {
	t.Helper()
	said := rowsOf(deeds.ReadTable(t, pagePath, driverColumns))[d.Name]
	var lacks []string
	for _, l := range there {
		at := slices.Index(driverColumns, titles[l.Deed])
		if l.None != "" && (at < 0 || at >= len(said) || said[at] != "–") {
			lacks = append(lacks, titles[l.Deed])
		}
	}
	return cells{idColumn: allBut(lacks)}
}

func allBut(lacks []string) string {
	if lacks == nil {
		return "✓"
	}
	return "no " + strings.Join(lacks, ", ")
}

// rowsOf returns the rows of a table by the name in their first cell.
func rowsOf(table deeds.Table) map[string][]string {
	rows := make(map[string][]string)
	for _, row := range table.Rows {
		rows[row[0]] = row
	}
	return rows
}

// settle compares the drivers' table with the results of this run. With the flag -update it writes them. A cell that
// this run has not seen stays. Versions may differ.
func settle(t *testing.T, seen map[string]cells) {
	t.Helper()
	table := deeds.ReadTable(t, pagePath, driverColumns)
	said := rowsOf(table)
	var rows [][]string
	for _, d := range drivers {
		row := said[d.Name]
		if len(row) != len(driverColumns) {
			row = append([]string{d.Name}, make([]string, len(driverColumns)-1)...)
		}
		for column, cell := range seen[d.Name] {
			at := slices.Index(driverColumns, column)
			if row[at] != cell && column != "version" && !*update {
				t.Errorf("docs/clients.md says of %s, %s: %q; now it is %q: %s", d.Name, column, row[at], cell, again)
			}
			row[at] = cell
		}
		rows = append(rows, row)
	}
	if *update {
		table.Write(t, rows)
	}
}

// settleSent does the same with what drivers send. Up to eight that send the same share a row.
func settleSent(t *testing.T, seen map[string]string) {
	t.Helper()
	table := deeds.ReadTable(t, pagePath, sentColumns)
	said := sentOn(table)
	var rows [][]string
	for _, d := range slices.Concat(drivers, light) {
		text := said[d.Name]
		if now, is := seen[d.Name]; is {
			if now != text && !*update {
				t.Errorf("docs/clients.md says that %s sends %s; now it sends %s: %s", d.Name, text, now, again)
			}
			text = now
		}
		if i := slices.IndexFunc(rows, func(row []string) bool {
			return row[1] == text && strings.Count(row[0], "; ") < 7
		}); i >= 0 {
			rows[i][0] += "; " + d.Name
		} else {
			rows = append(rows, []string{d.Name, text})
		}
	}
	if *update {
		table.Write(t, rows)
	}
}

// sentOn returns what a driver sends, by its name.
func sentOn(table deeds.Table) map[string]string {
	said := make(map[string]string)
	for _, row := range table.Rows {
		for name := range strings.SplitSeq(row[0], "; ") {
			said[name] = row[1]
		}
	}
	return said
}

// This test needs no driver. With the flag -update it writes the links.
func TestThePageHasEachDriverAndEachDeedAndALinkToTheCodeThatRan(t *testing.T) {
	code := make(map[string]cells)
	for _, d := range drivers {
		first, last := deeds.Place(t, d.Source, "begin")
		code[d.Name] = cells{"code": fmt.Sprintf("[code](../tests/clients/%s#L%d-L%d)", d.Source, first, last)}
	}
	settle(t, code)
	for _, deed := range slices.Concat(allDeeds, bareDeeds) {
		if titles[deed] == "" {
			t.Errorf("no column shows the deed %s", deed)
		}
	}
	shown := rowsOf(deeds.ReadTable(t, pagePath, driverColumns))
	sent := sentOn(deeds.ReadTable(t, pagePath, sentColumns))
	for _, d := range drivers {
		row := shown[d.Name]
		if len(row) != len(driverColumns) || slices.Contains(row[:len(row)-1], "") { // remarks may be empty
			t.Errorf("the row of %s on docs/clients.md is %q: %s", d.Name, row, again)
		}
	}
	for _, d := range slices.Concat(drivers, light) {
		if sent[d.Name] == "" {
			t.Errorf("docs/clients.md does not say what %s sends: %s", d.Name, again)
		}
	}
	if len(shown) != len(drivers) || len(sent) != len(drivers)+len(light) {
		t.Errorf("docs/clients.md has %d drivers and %d that send; expected %d and %d: %s",
			len(shown), len(sent), len(drivers), len(drivers)+len(light), again)
	}
}
