package deeds

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Snippet returns the lines of a file between "snippet: NAME" and the next "snippet: end". It removes their
// indentation, and writes tabs as four spaces.
func Snippet(t *testing.T, file, name string) string {
	t.Helper()
	lines, _ := snippet(t, file, name)
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " \t"))]
	for i := range lines {
		lines[i] = strings.ReplaceAll(strings.TrimPrefix(lines[i], indent), "\t", "    ")
	}
	return strings.Join(lines, "\n")
}

// Place returns the numbers of a snippet's first and last line in its file.
func Place(t *testing.T, file, name string) (first, last int) {
	t.Helper()
	lines, first := snippet(t, file, name)
	return first, first + len(lines) - 1
}

// snippet returns the lines of a snippet, and the number of the first.
func snippet(t *testing.T, file, name string) (lines []string, first int) {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`(?s)snippet: ` + name + `\b[^\n]*\n(.*?)\n[^\n]*snippet: end`)
	found := pattern.FindSubmatchIndex(source)
	if found == nil {
		t.Fatalf("%s has no snippet: expected the lines \"snippet: %s\" and \"snippet: end\"", file, name)
	}
	text := strings.TrimLeft(string(source[found[2]:found[3]]), "\n")
	first = 1 + strings.Count(string(source[:found[3]-len(text)]), "\n")
	return strings.Split(strings.TrimRight(text, "\n"), "\n"), first
}

// quotation matches a comment with the name of a file and those of its snippets, and the block of code below. A comment
// without "snippet" means the whole file, one without a name the snippet "begin".
var quotation = regexp.MustCompile("(?s)<!-- (\\S+)( snippet((?: \\w+)*))? -->\n```(\\w+)\n(.*?)```\n")

// Quotes fails the test if a page of docs quotes other code than the files have. With update it writes theirs into the
// page. It returns the names of the files, from the root of the repository.
func Quotes(t *testing.T, page string, update bool) (files []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	root, _, _ := strings.Cut(page, "docs/")
	written := quotation.ReplaceAllStringFunc(string(text), func(block string) string {
		match := quotation.FindStringSubmatch(block)
		files = append(files, match[1])
		code := quoted(t, filepath.Join(root, match[1]), match[2] != "", strings.Fields(match[3])) + "\n"
		if match[5] != code && !update {
			t.Errorf("%s quotes other code than %s has: run the test with -update, which writes it", page, match[1])
		}
		return "<!-- " + match[1] + match[2] + " -->\n```" + match[4] + "\n" + code + "```\n"
	})
	if n := strings.Count(string(text), "<!-- "); n != len(files) {
		t.Errorf("%s has %d comments, and %d of them stand before a block of code", page, n, len(files))
	}
	if update {
		if err := os.WriteFile(page, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// quoted returns the text of a file, or that of some snippets.
func quoted(t *testing.T, file string, some bool, names []string) string {
	t.Helper()
	if !some {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(strings.TrimSpace(string(code)), "\t", "    ")
	}
	if len(names) == 0 {
		names = []string{"begin"}
	}
	var codes []string
	for _, name := range names {
		codes = append(codes, Snippet(t, file, name))
	}
	return strings.Join(codes, "\n\n")
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
