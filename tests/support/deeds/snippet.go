package deeds

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Snippet is the part of a file between a line with "snippet: NAME" and the next with "snippet: end", without its
// indentation, and with tabs as four spaces.
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

// Blocks are the pieces of code in a language on a page, in their order. There must be one.
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
