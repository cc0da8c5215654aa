//go:build full

package operate

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// update writes the alerts of deploy/prometheus into docs/alerts.md.
var update = flag.Bool("update", false, "write docs/alerts.md")

const (
	alertsFile = "../../deploy/prometheus/alerts.yaml"
	alertsPage = "../../docs/alerts.md"
)

const alertsHead = `# Alerts

For operators who have got an alert, or want to know which there are. A test writes this page from
[alerts.yaml](../deploy/prometheus/alerts.yaml), whose annotation ` + "`runbook_url`" + ` leads here.
[Operations](operations.md#alerts) says how to set the alerts up.

The words are those of the glossary: [lease](glossary.md#lease), [worker](glossary.md#worker),
[window](glossary.md#window), [quarantine](glossary.md#quarantine), [gate](glossary.md#gate),
[upstream](glossary.md#upstream), [namespace](glossary.md#namespace), [segment](glossary.md#segment) and
[layout](glossary.md#layout).
`

// An alert is one rule, with what people read of it.
type alert struct{ name, hold, severity, summary, description, runbook string }

var (
	ruleStart = regexp.MustCompile(`(?m)^      - alert: `)
	folded    = regexp.MustCompile(`\n {12,}`)
)

// alerts reads the rules in the only form that the file has.
func alerts(t *testing.T) (all []alert) {
	t.Helper()
	text, err := os.ReadFile(alertsFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range ruleStart.Split(string(text), -1)[1:] {
		rule = folded.ReplaceAllString(rule, " ")
		of := func(key string) string {
			found := regexp.MustCompile(`(?m)^ +` + key + `: (?:>- )?(.*)$`).FindStringSubmatch(rule)
			if found == nil {
				return ""
			}
			return strings.Trim(found[1], `"`)
		}
		name, _, _ := strings.Cut(rule, "\n")
		all = append(all, alert{
			name, of("for"), of("severity"), of("summary"), of("description"), of("runbook_url"),
		})
	}
	return all
}

func TestEachAlertSaysWhatToDoWhereTemplatesLook(t *testing.T) {
	t.Parallel()
	for _, a := range alerts(t) {
		runbook := "https://pgflurry.example/docs/alerts.md#" + strings.ToLower(a.name)
		if a.summary == "" || a.description == "" || a.severity == "" || a.runbook != runbook {
			t.Errorf("%+v lacks something; its runbook_url should be %s", a, runbook)
		}
	}
}

func TestThePageOfAlertsIsWhatPrometheusGets(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	page.WriteString(alertsHead)
	for _, a := range alerts(t) {
		after := "at once"
		if a.hold != "" {
			after = "after " + a.hold
		}
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n%s\n", a.name,
			lines(fmt.Sprintf("**%s** (`%s`, %s)", inGeneral(a.summary), a.severity, after)), lines(a.description))
	}
	text, err := os.ReadFile(alertsPage)
	if err != nil && !*update {
		t.Fatal(err)
	}
	switch {
	case page.String() == string(text):
	case *update:
		if err := os.WriteFile(alertsPage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what %s says: go test -tags full ./tests/operate -run %s -update", alertsPage, alertsFile,
			t.Name())
	}
}

var (
	ofAny   = regexp.MustCompile(`\{\{ \$labels\.instance \}\}`)
	label   = regexp.MustCompile(`\{\{ \$labels\.(\w+) \}\}`)
	measure = regexp.MustCompile(`\{\{ \$value.*? \}\}`)
)

// inGeneral is a summary without the values of one alert.
func inGeneral(summary string) string {
	text := ofAny.ReplaceAllString(summary, "a proxy")
	text = measure.ReplaceAllString(label.ReplaceAllString(text, "$1"), "…")
	return strings.ToUpper(text[:1]) + text[1:]
}

// lines breaks a text into lines of at most 120 columns.
func lines(text string) string {
	var all strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		switch {
		case column == 0:
		case column+1+len(word) > 120:
			all.WriteByte('\n')
			column = 0
		default:
			all.WriteByte(' ')
			column++
		}
		all.WriteString(word)
		column += len(word)
	}
	return all.String()
}
