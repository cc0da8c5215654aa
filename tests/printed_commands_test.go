package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// printed is a whole command of namespace in a text of the code, and database a name in it.
var (
	printed = regexp.MustCompile(
		`pgflurry namespace (?:join|move|separate|set|close) --database [A-Z_]{2,}(?: --[a-z-]+| [A-Z_]{2,}\b)*`)
	database = regexp.MustCompile(`\b[A-Z_]{2,}\b`)
)

func TestACommandThatIsPrintedStandsOnThePageOfCopies(t *testing.T) {
	page, err := os.ReadFile("../docs/copies.md")
	if err != nil {
		t.Fatal(err)
	}
	found, known := 0, database.ReplaceAllString(string(page), "URL")
	for _, folder := range []string{"../cmd", "../internal", "../migrations", "../sqlfuncs", "../deploy/prometheus"} {
		err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, command := range printed.FindAllString(strings.Join(strings.Fields(string(text)), " "), -1) {
				found++
				if !strings.Contains(known, "`"+database.ReplaceAllString(command, "URL")) {
					t.Errorf("%s prints %q, which docs/copies.md lacks", path, command)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 10 {
		t.Errorf("%d commands were found; expected many more", found)
	}
}
