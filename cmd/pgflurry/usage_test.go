package main

import (
	"io"
	"strings"
	"testing"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

func TestAWrongCommandLineSaysSoAndLeadsToItsHelp(t *testing.T) {
	for line, want := range map[string]struct{ says, help string }{
		"sideways":             {`"sideways" is no command of "pgflurry"`, "pgflurry --help"},
		"migrate sql --help":   {`"sql" is no command of "pgflurry migrate"`, "pgflurry migrate --help"},
		"workers sideways":     {`"sideways" is no command of "pgflurry workers"`, "pgflurry workers --help"},
		"serve extra":          {`"pgflurry serve" takes no arguments, but was given "extra"`, "pgflurry serve --help"},
		"migrate up extra":     {`takes no arguments, but was given "extra"`, "pgflurry migrate up --help"},
		"workers retire":       {"0 workers were given", "pgflurry workers retire --help"},
		"workers retire 1 2":   {"2 workers were given", "pgflurry workers retire --help"},
		"workers retire x":     {`"x" is not the number of a worker`, "pgflurry workers retire --help"},
		"workers list --wrong": {"unknown flag: --wrong", "pgflurry workers list --help"},
		"decode":               {"no ID was given", "pgflurry decode --help"},
		"decode -17":           {"-17 is not an ID: no ID is negative", "pgflurry decode --help"},
		"health --ready --ids": {"--ids and --ready exclude each other; give one of them", "pgflurry health --help"},
		"demo --bin /x --postgres y": {
			"--bin and --postgres exclude each other; give one of them", "pgflurry demo --help",
		},
		"clients add":     {"0 names of clients were given", "pgflurry clients add --help"},
		"clients add a b": {"2 names of clients were given; give one, and nothing else", "pgflurry clients add --help"},
		"clients remove ": {"0 names of clients were given", "pgflurry clients remove --help"},
		"clients add a --verifier-stdin --certificate-only": {
			"--certificate-only and --verifier-stdin exclude each other; give one of them",
			"pgflurry clients add --help",
		},
		"namespace separate --database postgres://u@h/d --after-id abc": {
			`--after-id is "abc"; expected a whole number, such as 100`, "pgflurry namespace separate --help",
		},
		"decode --wrong": {"unknown flag: --wrong", "pgflurry decode --help"},
	} {
		root := newRoot()
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		_, err := execute(t.Context(), root, strings.Fields(line))
		if err == nil || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: %v, want an error that says %s", line, err, want.says)
			continue
		}
		if fault.HintOf(err) != `See "`+want.help+`".` {
			t.Errorf("%s: the hint is %q, want one that leads to %s", line, fault.HintOf(err), want.help)
		}
	}
}

func TestAWordThatIsNearlyOneIsNamed(t *testing.T) {
	for line, want := range map[string]string{
		"serv":                         `Did you mean "pgflurry serve"? See "pgflurry --help".`,
		"workers lst":                  `Did you mean "pgflurry workers list"? See "pgflurry workers --help".`,
		"help migrat":                  `Did you mean "pgflurry migrate"? See "pgflurry --help".`,
		"serve --lease-databse x":      `Did you mean --lease-database? See "pgflurry serve --help".`,
		"serve --max-conections=3":     `Did you mean --max-connections? See "pgflurry serve --help".`,
		"decode --jsn 1":               `Did you mean --json? See "pgflurry decode --help".`,
		"migrate up --databas=u:p@h/d": `Did you mean --database? See "pgflurry migrate up --help".`,
	} {
		text, err := said(t, strings.Fields(line)...)
		if err == nil || fault.HintOf(err) != want || strings.Contains(text, "p@h") {
			t.Errorf("%s: the hint is %q, expected %q:\n%s", line, fault.HintOf(err), want, text)
		}
	}
}

func TestAConnectionStringWithoutItsFlagGetsAHintWhereItBelongs(t *testing.T) {
	for line, flag := range map[string]string{
		"migrate up": "--database", "migrate down": "--database", "workers list": "--database",
		"serve": "--lease-database", "demo": "--postgres",
	} {
		for _, url := range []string{"postgres://owner:s3cret@h/db", "host=h password=s3cret", "owner:s3 cret@h/db"} {
			text, err := said(t, append(strings.Fields(line), url)...)
			says := `"pgflurry ` + line + `" takes no arguments, but was given ` + connect.NotRepeated +
				"; the URL of the database belongs behind " + flag
			if err == nil || !strings.Contains(text, says) || leaks(text) {
				t.Errorf("%s with a URL says\n%s\nexpected %s", line, text, says)
			}
		}
	}
}
