//go:build full

package frameworks

import (
	"cmp"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"pgflurry/tests/support/deeds"
)

var update = flag.Bool("update", false, "write the results into docs/frameworks.md")

//go:embed page.md
var pageText string

const (
	pagePath = "../../docs/frameworks.md"
	again    = "run make test-clients, which writes the page"
)

// languages has Markdown's name for each file extension.
var languages = map[string]string{
	".py": "python", ".rb": "ruby", "Rakefile": "ruby", ".go": "go", ".java": "java", ".js": "js", ".mjs": "js",
	".ts": "ts", ".php": "php", ".sql": "sql", ".prisma": "prisma", ".xml": "xml", ".yaml": "yaml", ".yml": "yaml",
}

// cells returns a framework's row of the table. "of" in a cell is the number of statements that PostgreSQL ran for a
// deed.
func cells(t *testing.T, f framework, version string, direct, through []done) []string {
	t.Helper()
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
		f.Name, version, mark("migrate"), mark("insert"), count(of(direct, "batch")),
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

func bars(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// render returns the page with these rows of the table.
func render(t *testing.T, lines []string) string {
	t.Helper()
	var sections []string
	for _, f := range frameworks {
		if s := section(t, f.folder); !slices.Contains(sections, s) {
			sections = append(sections, s)
		}
	}
	var page strings.Builder
	data := map[string]any{"Lines": strings.Join(lines, "\n"), "Sections": sections}
	if err := template.Must(template.New("page").Parse(pageText)).Execute(&page, data); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// section returns section.md of a folder, with the snippets of its files.
func section(t *testing.T, folder string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "section.md"))
	if err != nil {
		t.Fatal(err)
	}
	fence := func(file, code string) string {
		language := cmp.Or(languages[filepath.Ext(file)], languages[file])
		if language == "" {
			t.Fatalf("%s/%s: no language is known for such a file; name it in languages", folder, file)
		}
		return "```" + language + "\n" + code + "\n```"
	}
	snippet := func(file, name string) string {
		return fence(file, deeds.Snippet(t, filepath.Join(folder, file), name))
	}
	whole := func(file string) (string, error) {
		code, err := os.ReadFile(filepath.Join(folder, file))
		return fence(file, strings.TrimSpace(string(code))), err
	}
	quotes := template.FuncMap{"snippet": snippet, "file": whole}
	parsed, err := template.New(folder).Funcs(quotes).Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	if err := parsed.Execute(&all, nil); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(all.String())
}

// said returns the rows of the page's table, by framework.
func said(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]string)
	_, table, _ := strings.Cut(string(page), "\n|---")
	for _, text := range strings.Split(table, "\n")[1:] {
		row, is := strings.CutPrefix(text, "| ")
		if !is {
			break
		}
		name, _, _ := strings.Cut(row, " | ")
		lines[name] = text
	}
	return lines
}

// settle compares the table with the results of this run. With the flag -update it writes the page; a row that this run
// has not seen stays.
func settle(t *testing.T, seen map[string][]string) {
	t.Helper()
	before := said(t)
	var lines []string
	for _, f := range frameworks {
		line := before[f.Name]
		if cells := seen[f.Name]; cells != nil {
			if old := strings.Split(line, " | "); !*update && len(old) > 1 {
				cells[1] = old[1] // versions may differ
			}
			if now := bars(cells); now != line && !*update {
				t.Errorf("docs/frameworks.md says\n%s\nnow it is\n%s\n%s", line, now, again)
			} else {
				line = now
			}
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	if *update {
		if err := os.WriteFile(pagePath, []byte(render(t, lines)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// This test needs no framework.
func TestThePageHasALineOfEachFrameworkAndQuotesTheProgramsThatRun(t *testing.T) {
	on := said(t)
	var lines []string
	for _, f := range frameworks {
		line, there := on[f.Name]
		if !there {
			t.Errorf("docs/frameworks.md has no line of %s: %s", f.Name, again)
		}
		lines = append(lines, line)
	}
	page, err := os.ReadFile(pagePath)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		page = []byte(render(t, slices.DeleteFunc(lines, func(line string) bool { return line == "" })))
		if err := os.WriteFile(pagePath, page, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(page) != render(t, lines) {
		t.Errorf("docs/frameworks.md is not page.md with the sections and snippets of now: %s", again)
	}
}
