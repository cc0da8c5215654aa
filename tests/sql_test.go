package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"pgflurry/internal/queries"
)

// A database whose encoding lacks a character refuses the whole text that contains it.
func TestSQLThatIsSentToADatabaseIsASCII(t *testing.T) {
	files := 0
	for _, rooms := range []string{"*", "*/*", "*/*/*"} {
		paths, err := filepath.Glob("../" + rooms + "/*.sql")
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

// psql reads such a file, too: without a semicolon it takes two statements for one.
func TestEachNamedStatementEndsWithASemicolon(t *testing.T) {
	paths, err := filepath.Glob("../internal/*/queries.sql")
	paths = append(paths, "../migrations/queries.sql", "../internal/namespace/decide/queries.sql")
	if err != nil || len(paths) < 5 {
		t.Fatalf("%q, %v; expected the files of five rooms or more", paths, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		statements, err := queries.Split(string(text))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for name, sql := range statements {
			if !strings.HasSuffix(sql, ";\n") {
				t.Errorf("%s: statement %s does not end with a semicolon", path, name)
			}
		}
	}
}
