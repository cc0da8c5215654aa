package clients

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// blocks are the page's pieces of code in a language.
func blocks(t *testing.T, language string) (all []string) {
	t.Helper()
	fenced := regexp.MustCompile("(?s)```" + language + "\n(.*?)```")
	for _, found := range fenced.FindAllStringSubmatch(read(t, jsonPage), -1) {
		all = append(all, found[1])
	}
	if len(all) == 0 {
		t.Fatalf("docs/json.md has no code in %s", language)
	}
	return all
}

// TestTheSQLOfThePageGivesWhatStandsBehindIt runs each statement; a comment behind one is its result.
func TestTheSQLOfThePageGivesWhatStandsBehindIt(t *testing.T) {
	url := server.Migrated(t)
	server.Exec(t, url, authorsSQL)
	conn := server.Connect(t, url)
	statement := regexp.MustCompile(`(?s)(.*?);(?: +-- (.*?))?(?:\n|$)`)
	for _, block := range blocks(t, "sql") {
		for _, found := range statement.FindAllStringSubmatch(block, -1) {
			if found[2] == "" {
				server.Do(t, conn, found[1])
				continue
			}
			got := server.Value[string](t, conn, "SELECT one::text FROM ("+found[1]+") AS of (one)")
			if got != found[2] {
				t.Errorf("%s gives %s; docs/json.md says %s", found[1], got, found[2])
			}
		}
	}
}

// TestTheJavaScriptOfThePageGivesWhatStandsBehindIt lets Node run each expression; a comment behind one is its value.
func TestTheJavaScriptOfThePageGivesWhatStandsBehindIt(t *testing.T) {
	deeds.Wanted(t)
	command := exec.CommandContext(server.Within(t), "node", sourceFlag(t), "node/page_of_json.js")
	input, err := json.Marshal(blocks(t, "js"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdin = bytes.NewReader(input)
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), " values compared") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestThePageOfJSONShowsCodeThatRuns looks for each snippet of the programs on the page.
func TestThePageOfJSONShowsCodeThatRuns(t *testing.T) {
	page := read(t, jsonPage)
	named := regexp.MustCompile(`(?s)[ \t]*// snippet: (\w+)\n(.*?)\n[ \t]*// snippet: end`)
	for file, n := range map[string]int{"node/ids_in_json.js": 3, "json_test.go": 1} {
		found := named.FindAllStringSubmatch(read(t, file), -1)
		if len(found) != n {
			t.Errorf("%s has %d snippets; expected %d", file, len(found), n)
		}
		for _, s := range found {
			lines := strings.Split(s[2], "\n")
			indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], "\t"))]
			for i := range lines {
				lines[i] = strings.ReplaceAll(strings.TrimPrefix(lines[i], indent), "\t", "    ")
			}
			if !strings.Contains(page, strings.Join(lines, "\n")) {
				t.Errorf("docs/json.md lacks the snippet %s of %s:\n%s", s[1], file, strings.Join(lines, "\n"))
			}
		}
	}
}
