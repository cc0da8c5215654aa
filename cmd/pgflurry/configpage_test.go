package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgflurry/internal/config/source"

	"github.com/spf13/pflag"
)

// flagsOfServe are the flags of serve.
func flagsOfServe(t *testing.T) *pflag.FlagSet {
	t.Helper()
	cmd, _, err := newRoot().Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Flags()
}

// row is a flag's line in docs/reference.md.
func row(f *pflag.Flag) string {
	usual := f.DefValue
	switch {
	case f.Name == "node":
		usual = "the host's name"
	case usual == "" || usual == "[]":
		usual = "–"
	default:
		usual = "`" + usual + "`"
	}
	place, hangup := "`"+source.Variable(f.Name)+"`", "needs a restart"
	switch {
	case source.Has(f, source.CommandLineOnly):
		place, hangup = "command line only", "–"
	case f.Name == source.ConfigFlag:
		hangup = "–"
	case slices.Contains(f.Annotations[source.ReloadsAt], source.ReloadsPassword):
		hangup = "its password **changes**"
	case source.Has(f, source.ReloadsAt):
		hangup = "**changes**"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s |", f.Name, place, kinds[f.Value.Type()], usual, hangup)
}

// kinds are the page's words for the types of flags.
var kinds = map[string]string{
	"bool": "true or false", "duration": "duration", "int": "number", "string": "text", "stringSlice": "list",
}

func TestThePageOfTheConfigurationHasEveryFlagAsTheProgramHasIt(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	flagsOfServe(t).VisitAll(func(f *pflag.Flag) {
		if !source.OwnFlag(f) {
			want = append(want, row(f))
		}
	})
	has := regexp.MustCompile("(?m)^\\| `[a-z-]+` \\|.*$").FindAllString(string(page), -1)
	if !slices.Equal(has, want) {
		t.Errorf("the table of docs/reference.md has to be\n%s", strings.Join(want, "\n"))
	}
	for _, name := range secrets() {
		if !strings.Contains(string(page), "`--"+name+"`") {
			t.Errorf("the page does not say that --%s may stand in a file", name)
		}
	}
}

func TestThePageOfTheConfigurationHasEveryCommand(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() == "completion" { // below the table
			continue
		}
		row := regexp.MustCompile("(?m)^\\| `" + cmd.CommandPath() + "\\b ?([^`]*)`").FindStringSubmatch(string(page))
		if row == nil {
			t.Errorf("the table of commands lacks %s", cmd.CommandPath())
			continue
		}
		for _, sub := range cmd.Commands() {
			if !slices.Contains(strings.Split(row[1], `\|`), sub.Name()) {
				t.Errorf("the table of commands lacks %s", sub.CommandPath())
			}
		}
	}
}

func TestTheExampleFileIsGoodAndHasEveryKey(t *testing.T) {
	const path = "../../deploy/pgflurry.toml"
	if text, err := said(t, "serve", "--config", path, "--check-config"); err != nil {
		t.Errorf("it is refused: %s", text)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Every key that is commented out counts, except lease-database-file, which excludes lease-database.
	whole := regexp.MustCompile(`(?m)^# ([a-z-]+ = )`).ReplaceAllString(string(content), "$1")
	whole = regexp.MustCompile(`(?m)^lease-database-file = .*$`).ReplaceAllString(whole, "")
	flags := flagsOfServe(t)
	if err := flags.Set(source.ConfigFlag, written(t, "whole.toml", whole)); err != nil {
		t.Fatal(err)
	}
	c := source.Read(flags, nil)
	if err := c.Err(); err != nil {
		t.Error(err)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if !source.Has(f, source.CommandLineOnly) && !source.OwnFlag(f) && f.Name != source.ConfigFlag &&
			!strings.HasPrefix(c.Origin(f.Name), "key "+f.Name) {
			t.Errorf("the example does not show %s", f.Name)
		}
	})
}

func TestAValueThatOnlyLooksLikeAPasswordIsShown(t *testing.T) {
	text, err := said(t, "serve", "--check-config", "--upstream", "db:5432", "--lease-database",
		"postgres://u:s3cret@h/d", "--listen", "/nowhere/.s.PGSQL.1", "--client-auth", "password")
	if err == nil || !strings.Contains(text, "--client-auth password needs --client-tls require") {
		t.Errorf("without TLS: %s", text)
	}
	flags := flagsOfServe(t)
	if err := flags.Parse([]string{"--client-auth", "password", "--node", "my pass"}); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	if err := source.Read(flags, nil).Print(&shown); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"client-auth": "password", "node": "(not shown)"} {
		line := regexp.MustCompile(`(?m)^` + name + ` +` + regexp.QuoteMeta(value) + ` +command line$`)
		if !line.MatchString(shown.String()) {
			t.Errorf("%s is not shown as %s:\n%s", name, value, shown.String())
		}
	}
}
