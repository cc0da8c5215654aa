package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// A reader looks in these tables first for the test of a promise.
func TestEveryFolderOfTestsHasItsRowAndEveryRowItsFolder(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows, folders []string
	wholeRow := regexp.MustCompile("(?m)^\\| `(tests/[a-z/]+)` \\| .+ \\| .+ \\| .+ \\|$")
	for _, row := range wholeRow.FindAllSubmatch(text, -1) {
		rows = append(rows, string(row[1]))
	}
	for _, above := range []string{"tests", "tests/support"} {
		entries, err := os.ReadDir(filepath.Join("..", above))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if name := above + "/" + entry.Name(); entry.IsDir() && name != "tests/support" {
				folders = append(folders, name)
			}
		}
	}
	for _, folder := range folders {
		if !slices.Contains(rows, folder) {
			t.Errorf("%s has no whole row in the tables of tests/README.md", folder)
		}
	}
	for i, row := range rows {
		if !slices.Contains(folders, row) || slices.Contains(rows[:i], row) {
			t.Errorf("tests/README.md has a row for %s, which is no folder or has another one", row)
		}
	}
	if len(folders) == 0 {
		t.Error("no folder was found")
	}
}
