package tests

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// trackRecord has a table of defects for each promise, below a heading.
const trackRecord = "../docs/track-record.md"

var (
	// defectRow is what happened, how it was found, since when, by which tests it shows, and what mended it.
	defectRow = regexp.MustCompile("^\\| (.+) \\| (.+) \\| (`[0-9a-f]{7}`|start|draft) \\| " +
		"(\\[`Test.+\\.go\\)) \\| `([0-9a-f]{7})` \\|$")
	linkedTest   = regexp.MustCompile("\\[`(Test\\w+)`\\]\\(([^)]+)\\)")
	namedCommit  = regexp.MustCompile("`([0-9a-f]{7})`")
	countOfTable = regexp.MustCompile(`(?m)^\| (?:\[[^\]]+\]\(#(.+)\)|all) \| (\d+) \| (\d+) \|$`)
)

// tablesOf returns the rows of the tables of a page, by the anchor of the heading above. Of tables below one heading
// only the last counts.
func tablesOf(text string) map[string][]string {
	rows, anchor := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
			anchor = anchors(line)[0]
		case strings.HasPrefix(line, "|--"):
			rows[anchor] = []string{}
		case strings.HasPrefix(line, "|") && rows[anchor] != nil:
			rows[anchor] = append(rows[anchor], line)
		}
	}
	return rows
}

// commits returns the commits up to this one, the newest first. It returns none where not all of them are there, as in
// a shallow clone or an archive.
func commits() (all []string) {
	git := func(arguments ...string) string {
		out, err := exec.Command("git", arguments...).Output()
		if err != nil {
			return ""
		}
		return string(out)
	}
	// Within another repository the folder of the tests has a longer name.
	if git("rev-parse", "--is-shallow-repository", "--show-prefix") != "false\ntests/\n" {
		return nil
	}
	return strings.Fields(git("rev-list", "--topo-order", "HEAD"))
}

func TestEachDefectOfTheTrackRecordHasItsTestAndItsCommit(t *testing.T) {
	text := documents(t)[trackRecord]
	history, files, tables := commits(), map[string]string{}, tablesOf(text)
	if history == nil {
		t.Log("the history is not there, so only the form of commits is checked")
	}
	place := func(commit string) int {
		return slices.IndexFunc(history, func(full string) bool { return strings.HasPrefix(full, commit) })
	}
	for _, match := range namedCommit.FindAllStringSubmatch(text, -1) {
		if history != nil && place(match[1]) < 0 {
			t.Errorf("%s names commit %s, which is none before this one", trackRecord, match[1])
		}
	}
	for _, counted := range countOfTable.FindAllStringSubmatch(text, -1) {
		mended := ""
		for _, row := range tables[counted[1]] {
			parts := defectRow.FindStringSubmatch(row)
			if parts == nil {
				t.Errorf("%s has a row that is no defect with since, test and commit:\n%s", counted[1], row)
				continue
			}
			for _, link := range linkedTest.FindAllStringSubmatch(parts[4], -1) {
				path := filepath.Join(filepath.Dir(trackRecord), link[2])
				if _, read := files[path]; !read {
					source, err := os.ReadFile(path)
					if err != nil {
						t.Error(err)
					}
					files[path] = string(source)
				}
				if !strings.Contains(files[path], "\nfunc "+link[1]+"(") {
					t.Errorf("%s is not in %s", link[1], path)
				}
			}
			if mended != "" && history != nil && place(parts[5]) < place(mended) {
				t.Errorf("%s: %s stands below the older %s; the newest comes first", counted[1], parts[5], mended)
			}
			mended = parts[5]
		}
	}
}

func TestTheTrackRecordCountsItsRows(t *testing.T) {
	text := documents(t)[trackRecord]
	tables := tablesOf(text)
	lines := countOfTable.FindAllStringSubmatch(text, -1)
	if len(lines) != 5 {
		t.Fatalf("%d promises are counted, expected four and their sum; headings: %v",
			len(lines), slices.Sorted(maps.Keys(tables)))
	}
	found, open := 0, 0
	for _, line := range lines[:4] {
		if n := len(tables[line[1]]); line[2] != fmt.Sprint(n) {
			t.Errorf("%q has %d rows, and %s by the table above", line[1], n, line[2])
		}
		found += len(tables[line[1]])
		n, _ := strconv.Atoi(line[3])
		open += n
	}
	if sum := lines[4]; sum[2] != fmt.Sprint(found) || sum[3] != fmt.Sprint(open) {
		t.Errorf("the sums are %s and %s, expected %d and %d", sum[2], sum[3], found, open)
	}
	if n := len(tables["known-and-not-mended"]); n != open {
		t.Errorf("%d defects are not mended, and %d by the table above", n, open)
	}
	if !strings.Contains(text, fmt.Sprintf(" all %d defects ", found)) {
		t.Errorf("the page does not begin with its %d defects", found)
	}
}
