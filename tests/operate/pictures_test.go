//go:build full

package operate

import (
	_ "embed" // the script
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/browser"
)

//go:embed pictures_test.js
var misplacedTexts string

// fonts that a reader may have instead of the chart's own: the widest common one, the narrowest, and one with serifs.
// Verdana's letters are as wide as those of DejaVu Sans.
var fonts = []string{"Liberation Sans", "DejaVu Sans", "Liberation Sans Narrow", "DejaVu Serif"}

// anySans ends a list of fonts with one that every reader has.
var anySans = regexp.MustCompile(`, ?sans-serif[;"]`)

// pictures are those with texts in the documents. Charts are as the library draws them.
func pictures(t *testing.T) map[string]string {
	t.Helper()
	paths, _ := filepath.Glob("../../docs/pictures/*.svg")
	all := make(map[string]string)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "<text") { // the mark has none
			all[filepath.Base(path)] = string(content)
		}
	}
	if len(all) == 0 {
		t.Fatalf("no picture with texts: %v", paths)
	}
	return all
}

// Each picture is in a tree of its own, since their styles have the same names.
func TestTextsOfAPictureStayApartAndInTheirBoxesWithoutTheFontThatItWasMadeWith(t *testing.T) {
	t.Parallel()
	chromium := browser.Start(t)
	all := pictures(t)
	var page strings.Builder
	page.WriteString("<!doctype html><meta charset=utf-8><style>:root{color-scheme:light dark}</style>")
	for _, font := range fonts {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			picture := all[name][strings.Index(all[name], "<svg"):]
			if !anySans.MatchString(picture) {
				t.Errorf("%s names no font that every reader has", name)
			}
			fmt.Fprintf(&page, "<p>%[1]s\n<div id='%[1]s in %[2]s'><template shadowrootmode=open>%[3]s"+
				"<style>text {font-family: '%[2]s' !important} "+
				".code {font-family: 'DejaVu Sans Mono' !important}</style></template></div>", name, font, picture)
		}
	}
	serving := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		if asked.URL.Path == "/" {
			io.WriteString(w, page.String())
		} else {
			w.WriteHeader(http.StatusNoContent) // the browser asks for an icon
		}
	}))
	t.Cleanup(serving.Close)
	for name, dark := range map[string]bool{"pictures-light": false, "pictures-dark": true} {
		tab := chromium.Open(serving.URL+"/", browser.View{Dark: dark})
		for _, complaint := range browser.Evaluate[[]string](tab, misplacedTexts) {
			t.Error(complaint)
		}
		tab.Picture(name)
	}
}
