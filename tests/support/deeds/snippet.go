package deeds

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Snippet returns the lines of a file between "snippet: NAME" and the next "snippet: end". It removes their
// indentation, and writes tabs as four spaces.
func Snippet(t *testing.T, file, name string) string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, begun := strings.Cut(string(source), "snippet: "+name)
	_, rest, _ = strings.Cut(rest, "\n")
	rest, _, ended := strings.Cut(rest, "snippet: end")
	if !begun || !ended {
		t.Fatalf("%s has no snippet: expected the lines \"snippet: %s\" and \"snippet: end\"", file, name)
	}
	lines := strings.Split(strings.Trim(rest[:strings.LastIndexByte(rest, '\n')], "\n"), "\n")
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	for i := range lines {
		lines[i] = strings.ReplaceAll(strings.TrimPrefix(lines[i], indent), "\t", "    ")
	}
	return strings.Join(lines, "\n")
}

// Blocks returns a page's blocks of code in a language, in order. The page must have one.
func Blocks(t testing.TB, page, language string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fenced := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	for _, block := range fenced.FindAllSubmatch(text, -1) {
		all = append(all, string(block[1]))
	}
	if len(all) == 0 {
		t.Fatalf("%s has no code in %s", page, language)
	}
	return all
}
