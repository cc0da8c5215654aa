//go:build full

package clients

import (
	_ "embed"
	"os"
	"slices"
	"strings"
	"testing"
	"text/template"

	"pgflurry/tests/support/deeds"
)

//go:embed setup.sql
var setupSQL string

//go:embed item.sql
var itemSQL string

//go:embed page.md
var pageText string

const (
	pagePath = "../../docs/clients.md"
	again    = "run make test-clients, which writes the page"
)

// table is one of the page's tables. Each has a row for each driver.
type table int

const (
	idTable table = iota
	otherTable
	bareTable // of the ID database
	sentTable // what drivers send; its names are bold, and it has more of them
)

// rows maps a driver to its cells. The first cell is its name.
type rows map[string][]string

// tables has what one run has seen. A run does not see all tables.
type tables map[table]rows

// Two tables, because one would be wider than a screen.
var (
	idDeeds    = []string{"unprepared", "prepared", "pipeline", "mixed", "pool", "parallel", "default"}
	otherDeeds = []string{"password", "scram", "tls", "transaction", "copy", "notify", "cancel"}
)

// widths has the number of cells of a row: the marks, the name, and remarks or a version.
var widths = []int{
	idTable: len(idDeeds) + 2, otherTable: len(otherDeeds) + 2, bareTable: len(bareDeeds) + 3, sentTable: 2,
}

// drawing has the deeds whose IDs the proxy gives if it can. In a transaction, and between other statements of a batch,
// that depends on the replies that PostgreSQL has sent by then. So the table does not show it for those.
var drawing = map[string]bool{"unprepared": true, "prepared": true, "pipeline": true, "pool": true, "parallel": true}

// marks returns a row's marks, one for each deed. The legend is in page.md.
func marks(t *testing.T, proxied []deeds.Line) (all []string) {
	t.Helper()
	for _, l := range proxied {
		switch {
		case l.None != "":
			all = append(all, "–")
		case drawing[l.Deed] && 2*deeds.FromMemory(t, l.IDs) < len(l.IDs):
			all = append(all, "(✓)")
		default:
			all = append(all, "✓")
		}
	}
	return all
}

// remarks joins the remark of a driver and the reasons of its dashes, each once.
func remarks(remark string, proxied []deeds.Line) string {
	var reasons []string
	if remark != "" {
		reasons = append(reasons, remark)
	}
	for _, l := range proxied {
		if l.None != "" && !slices.Contains(reasons, l.None) {
			reasons = append(reasons, l.None)
		}
	}
	return strings.Join(reasons, "; ")
}

// marksOf returns the marks of some of the deeds.
func marksOf(done, marks, some []string) []string {
	of := make([]string, len(some))
	for i, deed := range some {
		of[i] = marks[slices.Index(done, deed)]
	}
	return of
}

func bars(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// section is a heading of the page and its code.
type section struct{ Name, Language, Program, Code string }

func sections(t *testing.T) (all []section) {
	t.Helper()
	done := make(map[string]bool)
	for _, d := range drivers {
		if done[d.Source] {
			continue
		}
		done[d.Source] = true
		name, _, _ := strings.Cut(d.Name, ",")
		all = append(all, section{name, d.Language, d.Source, deeds.Snippet(t, d.Source, "begin")})
	}
	return all
}

// settle compares the page with the results of this run. With the flag -update it writes them into the page first.
func settle(t *testing.T, seen tables) {
	t.Helper()
	if *update {
		writePage(t, seen)
	}
	comparePage(t, seen)
}

// writePage writes the page anew. A row that this run has not seen stays.
func writePage(t *testing.T, seen tables) {
	t.Helper()
	said := readPage(t)
	lines := make([]string, len(widths))
	for i, width := range widths {
		var all []string
		for _, name := range namesOf(table(i)) {
			cells, at := seen[table(i)][name], place(table(i))
			if old := said[name]; cells == nil && len(old) > at && len(old[at]) == width {
				cells = old[at]
			}
			if cells == nil {
				cells = append([]string{name}, make([]string, width-1)...)
			}
			all = append(all, bars(cells))
		}
		lines[i] = strings.Join(all, "\n")
	}
	var page strings.Builder
	data := map[string]any{
		"IDs": lines[idTable], "Others": lines[otherTable], "Bare": lines[bareTable], "Sent": lines[sentTable],
		"Sections": sections(t),
	}
	if err := template.Must(template.New("page").Parse(pageText)).Execute(&page, data); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pagePath, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// namesOf are the names of a table's rows.
func namesOf(of table) (names []string) {
	if of != sentTable {
		for _, d := range drivers {
			names = append(names, d.Name)
		}
		return names
	}
	for _, d := range slices.Concat(drivers, light) {
		names = append(names, d.bold())
	}
	return names
}

// place is which of the rows of a name is that of a table.
func place(of table) int {
	if of == sentTable {
		return 0
	}
	return int(of)
}

// readPage returns the cells of each driver's rows, in the order of the tables.
func readPage(t *testing.T) map[string][][]string {
	t.Helper()
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string][][]string)
	for _, text := range strings.Split(string(page), "\n") {
		if row, is := strings.CutPrefix(text, "| "); is {
			cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
			said[cells[0]] = append(said[cells[0]], cells)
		}
	}
	return said
}

// comparePage fails if the page differs from the results of this run. Versions may differ.
func comparePage(t *testing.T, seen tables) {
	t.Helper()
	said := readPage(t)
	for which, rows := range seen {
		for name, cells := range rows {
			var got []string
			if all := said[name]; len(all) > place(which) {
				got = all[place(which)]
			}
			expected := slices.Clone(cells)
			if which == otherTable && len(got) > 1 {
				expected[1] = got[1]
			}
			if !slices.Equal(got, expected) {
				t.Errorf("docs/clients.md says of %s\n%q\nnow it is\n%q\n%s", name, got, expected, again)
			}
		}
	}
}

// This test needs no driver.
func TestEachDeedIsInOneTableOfThePage(t *testing.T) {
	t.Parallel()
	shown := slices.Sorted(slices.Values(slices.Concat(idDeeds, otherDeeds)))
	done := slices.Sorted(slices.Values(allDeeds))
	if !slices.Equal(shown, done) {
		t.Errorf("the tables show %q; the deeds are %q", shown, done)
	}
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	for which, expected := range map[table]int{idTable: len(widths) - 1, sentTable: 1} {
		for _, name := range namesOf(which) {
			if n := strings.Count(string(page), "\n| "+name+" | "); n != expected {
				t.Errorf("docs/clients.md has %d lines of %s, not %d: %s", n, name, expected, again)
			}
		}
	}
}

func TestSnippetsOfThePageAreThoseOfTheProgramsThatRun(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sections(t) {
		if !strings.Contains(string(page), "```"+s.Language+"\n"+s.Code+"\n```") {
			t.Errorf("docs/clients.md shows another snippet of %s than %s has: %s", s.Name, s.Program, again)
		}
	}
}
