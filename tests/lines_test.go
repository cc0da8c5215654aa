package tests

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"
)

// widest is the number of columns that a line of source may have. A tab counts as four.
const widest = 120

// noSource are the folders whose files nobody writes by hand: they are downloaded, made by a program, or of git.
var noSource = []string{".git", "node_modules", "testdata"}

func TestNoLineIsLongerThan120Columns(t *testing.T) {
	const told = 20
	files, long := 0, 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(noSource, entry.Name()):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains([]string{".go", ".sql"}, filepath.Ext(path)):
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
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
	if files < 300 {
		t.Errorf("%d files of source were found; expected many more", files)
	}
}
