//go:build full

package ahead

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgflurry/tests/support/deeds"
)

var update = flag.Bool("update", false, "write the files' text into docs/drawing-ahead.md")

const page = "../../docs/drawing-ahead.md"

// quoted matches the name of a file, a mark if only its snippet is meant, and the block of code below.
var quoted = regexp.MustCompile("(?s)<!-- (\\S+)( snippet)? -->\n```(\\w+)\n(.*?)```\n")

func TestThePageShowsTheCodeThatRan(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]bool)
	written := quoted.ReplaceAllStringFunc(string(text), func(block string) string {
		match := quoted.FindStringSubmatch(block)
		files[match[1]] = true
		code := source(t, match[1], match[2] != "")
		if match[4] != code && !*update {
			t.Errorf("docs/drawing-ahead.md shows other code than %s has: "+
				"go test -tags full -run Page ./tests/ahead -update writes it", match[1])
		}
		return "<!-- " + match[1] + match[2] + " -->\n```" + match[3] + "\n" + code + "```\n"
	})
	recipes, err := filepath.Glob("../../docs/recipes/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range recipes {
		if name := strings.TrimPrefix(path, "../../"); !files[name] && !strings.Contains(name, "__pycache__") {
			t.Errorf("docs/drawing-ahead.md does not show %s", name)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(written), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// source returns the text of a file, or only its snippet without indentation.
func source(t *testing.T, name string, snippet bool) string {
	t.Helper()
	name = filepath.Join("../..", name)
	if snippet {
		return deeds.Snippet(t, name, "begin") + "\n"
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(file), "\t", "    ")
}
