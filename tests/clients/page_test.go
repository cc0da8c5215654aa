package clients

import (
	_ "embed"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"
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

// result is what the page says of one driver.
type result struct {
	version string
	marks   []string // one a deed
	remarks string
}

// drawing are the deeds whose IDs the proxy gives, if it can. In a transaction and between other statements of a batch
// it depends on whether PostgreSQL has answered those already, so the table does not tell.
var drawing = map[string]bool{"unprepared": true, "prepared": true, "pipeline": true, "parallel": true}

// marks are the table's cells: see the legend in page.md.
func marks(t *testing.T, proxied []line) (all []string) {
	t.Helper()
	for _, l := range proxied {
		fromMemory := 0
		for _, id := range l.IDs {
			if workerOf(t, id) != databaseWorker {
				fromMemory++
			}
		}
		switch {
		case l.None != "":
			all = append(all, "–")
		case drawing[l.Deed] && 2*fromMemory < len(l.IDs):
			all = append(all, "(✓)")
		default:
			all = append(all, "✓")
		}
	}
	return all
}

// remarks are what there is to say of a driver, and the reasons of its dashes, each once.
func remarks(d driver, proxied []line) string {
	var reasons []string
	if d.remark != "" {
		reasons = append(reasons, d.remark)
	}
	said := make(map[string]bool)
	for _, l := range proxied {
		if l.None != "" && !said[l.None] {
			said[l.None] = true
			reasons = append(reasons, l.None)
		}
	}
	return strings.Join(reasons, "; ")
}

// The page has two tables, because one of all deeds is wider than a screen.
var (
	idDeeds    = []string{"unprepared", "prepared", "pipeline", "mixed", "parallel", "default"}
	otherDeeds = []string{"password", "scram", "tls", "transaction", "copy", "notify", "cancel"}
)

// idCells and otherCells are a driver's lines of the two tables, without bars.
func (r result) idCells(name string) []string {
	if r.marks == nil {
		return append(append([]string{name}, make([]string, len(idDeeds))...), "not run")
	}
	return append(append([]string{name}, r.marksOf(idDeeds)...), r.remarks)
}

func (r result) otherCells(name string) []string {
	return append([]string{name, r.version}, r.marksOf(otherDeeds)...)
}

// marksOf are the marks of some deeds, empty for a driver that did not run.
func (r result) marksOf(some []string) []string {
	of := make([]string, len(some))
	for i, deed := range some {
		if r.marks != nil {
			of[i] = r.marks[slices.Index(deeds, deed)]
		}
	}
	return of
}

func bars(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// snippet is the part of a program between its two marks, without their indentation.
func snippet(t *testing.T, program string) string {
	t.Helper()
	source, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(source), "snippet: begin")
	_, rest, _ = strings.Cut(rest, "\n")
	rest, _, ended := strings.Cut(rest, "snippet: end")
	if !begun || !ended {
		t.Fatalf("%s has no snippet: expected the lines \"snippet: begin\" and \"snippet: end\"", program)
	}
	lines := strings.Split(rest[:strings.LastIndexByte(rest, '\n')], "\n")
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	for i := range lines {
		lines[i] = strings.ReplaceAll(strings.TrimPrefix(lines[i], indent), "\t", "    ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// section is one heading with code.
type section struct{ Name, Language, Program, Code string }

func sections(t *testing.T) (all []section) {
	t.Helper()
	done := make(map[string]bool)
	for _, d := range drivers {
		if done[d.program] {
			continue
		}
		done[d.program] = true
		name, _, _ := strings.Cut(d.name, ",")
		all = append(all, section{name, d.language, d.program, snippet(t, d.program)})
	}
	return all
}

func writePage(t *testing.T, results map[string]result) {
	t.Helper()
	var ids, others []string
	for _, d := range drivers {
		ids = append(ids, bars(results[d.name].idCells(d.name)))
		others = append(others, bars(results[d.name].otherCells(d.name)))
	}
	var page strings.Builder
	data := map[string]any{
		"IDs": strings.Join(ids, "\n"), "Others": strings.Join(others, "\n"), "Sections": sections(t),
	}
	if err := template.Must(template.New("page").Parse(pageText)).Execute(&page, data); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pagePath, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// comparePage fails if the page says something else than what was just seen. Versions may differ.
func comparePage(t *testing.T, results map[string]result) {
	t.Helper()
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string][][]string) // a driver's lines, in the order of the tables
	for _, text := range strings.Split(string(page), "\n") {
		if row, is := strings.CutPrefix(text, "| "); is {
			cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
			said[cells[0]] = append(said[cells[0]], cells)
		}
	}
	for name, r := range results {
		expected := [][]string{r.idCells(name), r.otherCells(name)}
		if got := said[name]; len(got) == 2 && len(got[1]) > 1 {
			expected[1][1] = got[1][1]
		}
		if !reflect.DeepEqual(said[name], expected) {
			t.Errorf("docs/clients.md says of %s\n%q\nnow it is\n%q\n%s", name, said[name], expected, again)
		}
	}
}

// TestEachDeedIsInOneTableOfThePage needs no driver.
func TestEachDeedIsInOneTableOfThePage(t *testing.T) {
	shown, done := slices.Sorted(slices.Values(slices.Concat(idDeeds, otherDeeds))), slices.Sorted(slices.Values(deeds))
	if !slices.Equal(shown, done) {
		t.Errorf("the tables show %q; the deeds are %q", shown, done)
	}
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drivers {
		if n := strings.Count(string(page), "\n| "+d.name+" | "); n != 2 {
			t.Errorf("docs/clients.md has %d lines of %s, not one in each table: %s", n, d.name, again)
		}
	}
}

func TestSnippetsOfThePageAreThoseOfTheProgramsThatRun(t *testing.T) {
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
