package tests

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgflurry/tests/support/prose"
)

func TestSentencesOfDocumentsAreShort(t *testing.T) {
	for path, text := range prosePages(t) {
		t.Run(strings.TrimPrefix(path, "../"), func(t *testing.T) { prose.Check(t, 1, prose.Markdown([]byte(text))) })
	}
}

// Who reads README decides within three minutes.
func TestREADMEHasAtMost130Lines(t *testing.T) {
	if n := strings.Count(documents(t)["../README.md"], "\n"); n > 130 {
		t.Errorf("README.md has %d lines; at most 130 are allowed. Other pages have room", n)
	}
}

// A row of a table, a block of code and an image have no line breaks.
func TestLinesOfDocumentsHaveAtMost120Columns(t *testing.T) {
	for path, text := range prosePages(t) {
		code := false
		for i, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			n := utf8.RuneCountInString(line)
			if n > widest && !code && !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "![") {
				t.Errorf("%s:%d has %d columns; at most %d are allowed", path, i+1, n, widest)
			}
		}
	}
}

// prosePages are the pages that people read, and those beside deployments.
func prosePages(t *testing.T) map[string]string {
	t.Helper()
	pages := documents(t)
	maps.Copy(pages, readAll(t, "../deploy/*/*.md"))
	return pages
}

func TestSentencesOfCommentsAreShort(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(noSource, entry.Name()):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		t.Run(strings.TrimPrefix(path, "../"), func(t *testing.T) {
			for _, group := range file.Comments {
				if strings.HasPrefix(group.Text(), "Output:") { // what an example prints
					continue
				}
				prose.Check(t, files.Position(group.Pos()).Line, prose.Comment(group.Text()))
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
