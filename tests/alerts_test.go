package tests

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEachAlertSaysWhatToDoAndLeadsToAPageThatHelps(t *testing.T) {
	const file = "../deploy/prometheus/alerts.yaml"
	pages := documents(t)
	rules := strings.Split(readAll(t, file)[file], "\n      - alert: ")[1:]
	runbook := regexp.MustCompile(`\n +runbook_url: https://pgflurry\.example/(docs/[^#\n]+)#?(.*)\n`)
	for _, rule := range rules {
		name, text, _ := strings.Cut(rule, "\n")
		for _, key := range []string{"severity", "summary", "description"} { // where the usual templates look
			if !regexp.MustCompile(`\n +` + key + `: .`).MatchString(text) {
				t.Errorf("%s has no %s", name, key)
			}
		}
		to := runbook.FindStringSubmatch(text + "\n")
		if to == nil {
			t.Errorf("%s has no runbook_url below https://pgflurry.example/docs", name)
		} else if page, is := pages["../"+to[1]]; !is || to[2] != "" && !slices.Contains(anchors(page), to[2]) {
			t.Errorf("%s leads to %s, heading %q, which does not exist", name, to[1], to[2])
		}
	}
	if len(rules) < 20 {
		t.Errorf("%d alerts, expected many more", len(rules))
	}
}
