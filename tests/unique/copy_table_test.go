//go:build full

package unique

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A row is one of the table in docs/copies.md: what happened, and the commands between its backticks.
type row struct {
	happened string
	commands []string
}

// table reads the rows as docs/copies.md has them. Each table of its section has two columns.
func table(t *testing.T) []row {
	t.Helper()
	text, err := os.ReadFile("../../docs/copies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## What to run\n")
	if !found {
		t.Fatal("docs/copies.md has no section \"What to run\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []row
	for line := range strings.Lines(section) {
		// a bar inside a cell is escaped
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "what happened" {
			continue
		}
		r := row{happened: strings.TrimSpace(cells[1])}
		for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[2], -1) {
			r.commands = append(r.commands, strings.ReplaceAll(match[1], "\x00", "|"))
		}
		rows = append(rows, r)
	}
	return rows
}

func TestEachRowOfTheTableHoldsAsItStands(t *testing.T) {
	t.Parallel()
	rows := table(t)
	for _, r := range rows {
		t.Run(r.happened, func(t *testing.T) {
			t.Parallel()
			happen, known := scenarios[r.happened]
			if !known {
				t.Fatal("no test brings this about")
			}
			s := newStory(t, r.commands)
			happen(s)
			for i, command := range r.commands {
				if !s.run[i] {
					t.Errorf("the test has not run: %s", command)
				}
			}
		})
	}
	if len(rows) != len(scenarios) {
		t.Errorf("the table has %d rows, and there are tests for %d", len(rows), len(scenarios))
	}
}
