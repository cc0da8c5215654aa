package tests

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// documents returns the pages that people read, by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	return readAll(t, "../docs/*.md", "../docs/frameworks/*.md", "../README.md", "../CONTRIBUTING.md",
		"../CHANGELOG.md", "../internal/README.md", "README.md")
}

// readAll returns the files that the patterns match, by path. Each pattern must match one at least.
func readAll(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil || paths == nil {
			t.Fatalf("%s: %v; expected files", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(text)
		}
	}
	return texts
}

// A page that names a test as proof must not outlive that test. In docs/uniqueness.md the word before a test is its
// folder.
func TestEveryTestThatADocumentNamesExists(t *testing.T) {
	folders := map[string][]string{} // of each test; several may have one name
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
			name := string(match[1])
			folders[name] = append(folders[name], filepath.Base(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for path, text := range documents(t) {
		for _, match := range regexp.MustCompile("(\\w*) ?`(Test[A-Z]\\w+)`").FindAllStringSubmatch(text, -1) {
			named++
			folder, name := match[1], match[2]
			switch there := folders[name]; {
			case there == nil:
				t.Errorf("%s names %s, which does not exist", path, name)
			case strings.HasSuffix(path, "uniqueness.md") && folder != "" && !slices.Contains(there, folder):
				t.Errorf("%s has %s in %s; it is in %v", path, name, folder, there)
			}
		}
	}
	if named < 50 {
		t.Errorf("documents name %d tests, expected many more", named)
	}
}

func TestEveryFileThatADocumentLinksToExists(t *testing.T) {
	linked := 0
	for path, text := range documents(t) {
		for _, match := range regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`).FindAllStringSubmatch(text, -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			linked++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), match[1])); err != nil {
				t.Errorf("%s links to %s: %v", path, match[1], err)
			}
		}
	}
	if linked < 20 {
		t.Errorf("documents link to %d files, expected many more", linked)
	}
}

// If a heading changes, links to it break: a browser then silently stays at the top of the page.
func TestEveryHeadingThatADocumentLinksToExists(t *testing.T) {
	pages, linked := documents(t), 0
	for path, text := range pages {
		for _, match := range regexp.MustCompile(`\]\(([^)#]*)#([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			page := path
			if match[1] != "" {
				page = filepath.Join(filepath.Dir(path), match[1])
			}
			if target, is := pages[page]; is {
				linked++
				if !slices.Contains(anchors(target), match[2]) {
					t.Errorf("%s links to #%s, and %s has no such heading", path, match[2], page)
				}
			}
		}
	}
	if linked < 50 {
		t.Errorf("documents link to %d headings, expected many more", linked)
	}
}

// anchors returns the link targets of the headings of a document.
func anchors(text string) (names []string) {
	text = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names = append(names, strings.ReplaceAll(name, " ", "-"))
	}
	return names
}

func TestTheIndexOfTheDocumentsHasEachPage(t *testing.T) {
	pages := documents(t)
	index := pages["../docs/README.md"]
	for path := range pages {
		name := filepath.Base(path)
		if filepath.Dir(path) == "../docs" && name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}
