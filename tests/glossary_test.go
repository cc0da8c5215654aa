package tests

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// glossary has the words of docs/glossary.md that a page links at its first use. "Place", "answer" and "forward" are
// not among them: nearly all pages use these words in their common sense, too.
var glossary = map[string]*regexp.Regexp{
	"layout":     regexp.MustCompile(`\b[Ll]ayouts?\b`),
	"tick":       regexp.MustCompile(`\b[Tt]icks?\b`),
	"namespace":  regexp.MustCompile(`\b[Nn]amespaces?\b`),
	"worker":     regexp.MustCompile(`\b[Ww]orkers?\b`),
	"lease":      regexp.MustCompile(`\b[Ll]eases?\b`),
	"grant":      regexp.MustCompile(`\b[Gg]rants?\b`),
	"mark":       regexp.MustCompile(`\b[Mm]arks?\b`),
	"window":     regexp.MustCompile(`\bwindows?\b`), // Windows is a system
	"quarantine": regexp.MustCompile(`\b[Qq]uarantines?\b`),
	"gate":       regexp.MustCompile(`\b[Gg]ates?\b`),
	"upstream":   regexp.MustCompile(`\b[Uu]pstreams?\b`),
	"segment":    regexp.MustCompile(`\b[Ss]egments?\b`),
	"tag":        regexp.MustCompile(`\b[Tt]ags?\b`),
}

// otherSense says why a page need not link a word, or (without a word) none of them.
var otherSense = map[string]string{
	"clients.md tag":               "a command tag of PostgreSQL",
	"functions.md grant":           "GRANT of PostgreSQL",
	"json.md tag":                  "a tag of a field in Go",
	"high-availability.md segment": "a segment of PostgreSQL's WAL",
	"moving.md grant":              "GRANT of PostgreSQL",
	"test-databases.md mark":       "a question mark",
}

// notProse is what holds words that nobody reads as such: code, headings, and the texts of links to elsewhere.
var notProse = regexp.MustCompile("(?ms)^ *```.*?^ *```|<!--.*?-->|^#[^\n]*|`[^`]*`|" +
	`\[[^\]]*\]\((?:[^g)][^)]*|g[^l)][^)]*|)\)`)

func TestEachPageLinksAWordOfTheGlossaryAtItsFirstUse(t *testing.T) {
	used := map[string]bool{}
	for path, text := range documents(t) {
		page := filepath.Base(path)
		if filepath.Dir(path) != "../docs" || page == "glossary.md" {
			continue
		}
		text = notProse.ReplaceAllString(text, " ")
		for word, pattern := range glossary {
			at := pattern.FindStringIndex(text)
			linked := at != nil && strings.HasSuffix(text[:at[0]], "[") &&
				strings.HasPrefix(text[at[1]:], "](glossary.md#"+word+")")
			exempt := page
			if otherSense[page] == "" {
				exempt += " " + word
			}
			switch {
			case at == nil || linked:
			case otherSense[exempt] != "":
				used[exempt] = true
			default:
				t.Errorf("%s: the first %q needs a link to glossary.md#%s: …%s…", path, word, word,
					text[max(0, at[0]-40):min(len(text), at[1]+20)])
			}
		}
	}
	for exempt := range otherSense {
		if !used[exempt] {
			t.Errorf("%q is exempt, and needs not be", exempt)
		}
	}
}
