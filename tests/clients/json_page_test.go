//go:build full

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

// This test runs each statement of the page. The comment behind a statement is its result.
func TestTheSQLOfThePageGivesWhatStandsBehindIt(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	server.Exec(t, url, authorsSQL)
	conn := server.Connect(t, url)
	statement := regexp.MustCompile(`(?s)(.*?);(?: +-- (.*?))?(?:\n|$)`)
	for _, block := range deeds.Blocks(t, jsonPage, "sql") {
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

// This test lets Node evaluate each expression of the page. The comment behind an expression is its value.
func TestTheJavaScriptOfThePageGivesWhatStandsBehindIt(t *testing.T) {
	t.Parallel()
	deeds.Wanted(t)
	command := exec.CommandContext(server.Within(t), "node", sourceFlag(t), "node/page_of_json.js")
	input, err := json.Marshal(deeds.Blocks(t, jsonPage, "js"))
	if err != nil {
		t.Fatal(err)
	}
	command.Stdin = bytes.NewReader(input)
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), " values compared") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestThePageOfJSONShowsCodeThatRuns(t *testing.T) {
	t.Parallel()
	page := read(t, jsonPage)
	for file, names := range map[string][]string{
		"node/ids_in_json.js": {"whole", "pg", "postgres"}, "json_test.go": {"go"},
	} {
		for _, name := range names {
			if code := deeds.Snippet(t, file, name); !strings.Contains(page, code) {
				t.Errorf("docs/json.md lacks the snippet %s of %s:\n%s", name, file, code)
			}
		}
	}
}
