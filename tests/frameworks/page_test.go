//go:build full

package frameworks

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/deeds"
)

var update = flag.Bool("update", false, "write the results into docs/clients.md, and the code into docs/frameworks")

const (
	pagePath   = "../../docs/clients.md"
	pageFolder = "../../docs/frameworks/"
	again      = "run make test-clients, which writes the page"
)

var columns = []string{
	"framework", "version", "migrate", "insert", "batch", "ahead, direct", "ahead, proxy", "foreign key",
	"test database", "remarks",
}

// page is the name of the framework's file in docs/frameworks: the first word of its name.
func (f framework) page() string {
	return strings.ToLower(strings.TrimRight(strings.Fields(f.Name)[0], ",")) + ".md"
}

// link is the first cell of the framework's row.
func (f framework) link() string { return "[" + f.Name + "](frameworks/" + f.page() + ")" }

// cells returns a framework's row of the table. "of" in a cell is the number of statements that PostgreSQL ran for a
// deed.
func cells(f framework, version string, direct, through []done) []string {
	of := func(all []done, deed string) done { return all[slices.Index(allDeeds, deed)] }
	mark := func(deed string) string {
		if of(through, deed).None != "" {
			return "–"
		}
		return "✓"
	}
	remarks := []string{f.trap}
	for _, d := range through {
		if d.None != "" && !slices.Contains(remarks, d.None) {
			remarks = append(remarks, d.None)
		}
	}
	return []string{
		f.link(), version, mark("migrate"), mark("insert"), count(of(direct, "batch")),
		count(of(direct, "ahead")), count(of(through, "ahead")), mark("foreign_key"),
		mark("test_database"), strings.Join(slices.DeleteFunc(remarks, func(r string) bool { return r == "" }), "; "),
	}
}

// count returns the number of all statements, and in brackets the number of those that did not insert.
func count(d done) string {
	switch {
	case d.None != "":
		return "–"
	case d.draws+d.others == 0:
		return fmt.Sprint(d.inserts)
	}
	var more []string
	if d.draws > 0 {
		more = append(more, fmt.Sprintf("%d draw", d.draws))
	}
	if d.others > 0 {
		more = append(more, fmt.Sprintf("%d other", d.others))
	}
	return fmt.Sprintf("%d (%s)", d.inserts+d.draws+d.others, strings.Join(more, ", "))
}

// settle compares the table with the results of this run. With the flag -update it writes them. A row that this run has
// not seen stays. Versions may differ.
func settle(t *testing.T, seen map[string][]string) {
	t.Helper()
	table := deeds.ReadTable(t, pagePath, columns)
	var rows [][]string
	for _, f := range frameworks {
		at := slices.IndexFunc(table.Rows, func(row []string) bool { return row[0] == f.link() })
		now := seen[f.Name]
		switch {
		case at < 0 && now == nil:
			t.Errorf("docs/clients.md has no row of %s: %s", f.Name, again)
			continue
		case now == nil:
			now = table.Rows[at]
		case !*update && (at < 0 || !slices.Equal(slices.Delete(slices.Clone(now), 1, 2),
			slices.Delete(slices.Clone(table.Rows[at]), 1, 2))):
			t.Errorf("docs/clients.md lacks this row of now: %s: %s", deeds.Row(now), again)
		}
		rows = append(rows, now)
	}
	if len(rows) != len(table.Rows) && !*update {
		t.Errorf("docs/clients.md has %d frameworks; expected %d: %s", len(table.Rows), len(rows), again)
	}
	if *update {
		table.Write(t, rows)
	}
}

// This test needs no framework.
func TestThePageHasARowOfEachFrameworkWhoseFileQuotesTheProgramThatRan(t *testing.T) {
	settle(t, nil)
	for _, f := range frameworks {
		files := deeds.Quotes(t, pageFolder+f.page(), *update)
		if !slices.ContainsFunc(files, func(file string) bool {
			return strings.HasPrefix(file, "tests/frameworks/"+filepath.Dir(f.Source)+"/")
		}) {
			t.Errorf("docs/frameworks/%s quotes no code of %s", f.page(), f.Source)
		}
	}
}
