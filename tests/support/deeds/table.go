package deeds

import (
	"os"
	"strings"
	"testing"
)

// Row is a row of a table in Markdown.
func Row(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// Table is a table of a page.
type Table struct {
	page, before, after string
	Rows                [][]string
}

// ReadTable returns the table of a page that has these columns.
func ReadTable(t *testing.T, page string, columns []string) Table {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head := Row(columns) + "\n|" + strings.Repeat("---|", len(columns)) + "\n"
	before, rest, found := strings.Cut(string(text), head)
	if !found {
		t.Fatalf("%s has no table with the columns %q", page, columns)
	}
	table := Table{page: page, before: before + head}
	for line := range strings.Lines(rest) {
		row, is := strings.CutPrefix(line, "| ")
		if !is {
			break
		}
		table.Rows = append(table.Rows, strings.Split(strings.TrimSuffix(row, " |\n"), " | "))
		rest = rest[len(line):]
	}
	table.after = rest
	return table
}

// Write writes the page with other rows.
func (table Table) Write(t *testing.T, rows [][]string) {
	t.Helper()
	var page strings.Builder
	page.WriteString(table.before)
	for _, cells := range rows {
		page.WriteString(Row(cells) + "\n")
	}
	page.WriteString(table.after)
	if err := os.WriteFile(table.page, []byte(page.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
