//go:build full

package ahead

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/tests/support/deeds"
)

var update = flag.Bool("update", false, "write the snippet's text into docs/in-your-program.md")

const page = "../../docs/in-your-program.md"

func TestThePageShowsTheCodeThatRanAndLinksEachRecipe(t *testing.T) {
	t.Parallel()
	if files := deeds.Quotes(t, page, *update); len(files) != 1 {
		t.Errorf("docs/in-your-program.md quotes %q; expected one file of these tests", files)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	recipes, err := filepath.Glob("../../docs/recipes/*/*.*")
	if err != nil || len(recipes) == 0 {
		t.Fatalf("docs/recipes has %q: %v", recipes, err)
	}
	for _, path := range recipes {
		if name := strings.TrimPrefix(path, "../../docs/"); !strings.Contains(string(text), "]("+name+")") {
			t.Errorf("docs/in-your-program.md does not link %s", name)
		}
	}
}
