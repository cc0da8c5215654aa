package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/tests/support/prose"
)

// helpOf is the output of --help.
func helpOf(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetOut(&out)
	root.SetArgs(append(strings.Fields(cmd.CommandPath())[1:], "--help"))
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%s --help: %v", cmd.CommandPath(), err)
	}
	return out.String()
}

// screenLines is the most lines of a help.
const screenLines = 50

func TestHelpFitsOnAScreenAndNamesEachFlag(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		help := helpOf(t, cmd)
		for line := range strings.Lines(help) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > helpColumns {
				t.Errorf("%s --help has a line of %d columns; at most %d are allowed:\n%s",
					cmd.CommandPath(), n, helpColumns, line)
			}
		}
		if n := strings.Count(help, "\n"); n > screenLines {
			t.Errorf("%s --help has %d lines; at most %d are allowed", cmd.CommandPath(), n, screenLines)
		}
		for _, name := range flagNames(cmd) {
			if strings.Count(help, "--"+name+" ")+strings.Count(help, "--"+name+"\n") == 0 {
				t.Errorf("%s --help does not name --%s", cmd.CommandPath(), name)
			}
		}
		for _, sub := range cmd.Commands() {
			if !sub.Hidden {
				look(sub)
			}
		}
	}
	look(newRoot())
}

func TestSentencesOfHelpAreShort(t *testing.T) { prose.CheckHelp(t, newRoot()) }

func TestHelpOfServeHasItsFlagsInGroups(t *testing.T) {
	root := newRoot()
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	help := helpOf(t, serve) + everyFlag(serve)
	at := 0
	for _, want := range []string{
		"Flags:\n", "--upstream ", "\nID database: sessions without PostgreSQL:\n", "--max-id-sessions ",
		"\nLimits on clients:\n", "--max-logins ", "\nTLS and logins:\n", "--client-auth ",
		"\nConfiguration, log and operation:\n", "--log-level ",
	} {
		next := strings.LastIndex(help, want)
		if next < at {
			t.Errorf("%q stands at %d, and what comes before it at %d, in\n%s", want, next, at, help)
		}
		at = next
	}
}

func TestParagraphsAreFilledAndListsStayAsTheyAre(t *testing.T) {
	long := strings.Repeat("word ", 30)
	got := wrapped("first\nsecond\n\n" + long + "\n  indented  as it is\nlast")
	want := "first second\n\n" + strings.TrimSpace(strings.Repeat("word ", 20)) + "\n" +
		strings.TrimSpace(strings.Repeat("word ", 10)) + "\n  indented  as it is\nlast\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// flagNames are the flags of a command.
func flagNames(cmd *cobra.Command) (names []string) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}
