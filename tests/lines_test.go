package tests

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"
)

// widest is the number of columns that a line of source may have. A tab counts four.
const widest = 120

// source lists the kinds of files that people write: by extension, by name, or by the first bytes of a script. Markdown
// is not among them, because a row of a table is one line.
var source = []string{
	".go", ".java", ".js", ".php", ".pl", ".py", ".rb", ".sh", ".sql", ".tcl", "Dockerfile", "Makefile", "#!",
}

// noSource lists folders that nobody writes by hand. Elsewhere a generated file begins with the text of generated.
var (
	noSource  = []string{".git", "node_modules"}
	generated = []byte("// Code generated ")
)

func TestNoLineIsLongerThan120Columns(t *testing.T) {
	const told = 20
	files, long := map[string]int{}, 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		extension := filepath.Ext(path)
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(noSource, entry.Name()):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || extension != "" && !slices.Contains(source, extension):
			return nil
		}
		text, err := os.ReadFile(path)
		kind := cmp.Or(extension, entry.Name())
		if extension == "" && bytes.HasPrefix(text, []byte("#!")) {
			kind = "#!"
		}
		if err != nil || !slices.Contains(source, kind) || bytes.HasPrefix(text, generated) {
			return err
		}
		files[kind]++
		for i, line := range bytes.Split(text, []byte("\n")) {
			columns := utf8.RuneCount(line) + 3*bytes.Count(line, []byte("\t"))
			if columns <= widest {
				continue
			}
			if long++; long <= told {
				t.Errorf("%s:%d has %d columns; at most %d are allowed", path, i+1, columns, widest)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if long > told {
		t.Errorf("%d more lines are too long", long-told)
	}
	for _, kind := range source {
		if files[kind] == 0 {
			t.Errorf("no file of the kind %s was found; expected one at least", kind)
		}
	}
}
