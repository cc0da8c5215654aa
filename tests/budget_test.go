package tests

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// budget is how many lines of Go the product may have, without its tests and the benchmark. The size of an object is
// its own; that of the product is everybody's. Who raises the number says in the commit why, and what else could go.
const budget = 47990

func TestTheProductKeepsToItsBudgetOfLines(t *testing.T) {
	lines := 0
	for _, folder := range []string{
		"client", "cmd", "docker", "generator", "inprocess", "internal", "migrations", "proxy", "release", "sqlfuncs",
	} {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			lines += bytes.Count(text, []byte("\n"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d lines, of %d", lines, budget)
	if lines > budget || lines < budget/2 {
		t.Errorf("the product has %d lines of Go; its budget is %d", lines, budget)
	}
}

func TestAtMostSixteenFoldersLieAtTheTop(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, entry := range entries {
		made := slices.Contains([]string{"dist", "pgflurry-data"}, entry.Name())
		if entry.IsDir() && !made && !strings.HasPrefix(entry.Name(), ".") {
			folders = append(folders, entry.Name())
		}
	}
	if len(folders) > 16 || len(folders) < 10 {
		t.Errorf("%d folders lie at the top: %q; at most 16 are the architecture", len(folders), folders)
	}
}
