package tests

import (
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"
)

// A database whose encoding lacks a character refuses the whole text that contains it.
func TestSQLThatIsSentToADatabaseIsASCII(t *testing.T) {
	files := 0
	for _, folder := range []string{
		"account", "acknowledge", "client", "cmd/pgflurry", "lease", "migrations", "namespace", "segment",
		"sqlfuncs",
	} {
		paths, err := filepath.Glob("../" + folder + "/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			files++
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range string(text) {
				if r >= utf8.RuneSelf {
					t.Errorf("%s holds %q; expected ASCII alone", path, r)
					break
				}
			}
		}
	}
	if files < 50 {
		t.Errorf("%d files of SQL were found; expected many more", files)
	}
}
