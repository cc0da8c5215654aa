package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"pgflurry/config"
)

// asRead is the text of a page, as a reader of man sees it, and its headings.
func asRead(page string) (text string, headings []string) {
	var lines []string
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		if heading, is := strings.CutPrefix(line, ".SH "); is {
			headings = append(headings, strings.Trim(heading, `"`))
		}
		if !strings.HasPrefix(line, ".") {
			lines = append(lines, line)
		}
	}
	text = strings.Join(lines, "\n")
	return strings.NewReplacer(`\&`, "", `\fB`, "", `\fR`, "", `\e`, `\`, `\-`, "-", `\(aq`, "'", `\(ga`, "`",
		`\(ha`, "^", `\(ti`, "~").Replace(text), headings
}

func TestTheManualHasAPageForEachCommandWithAllTextsOfItsHelp(t *testing.T) {
	folder := t.TempDir()
	if text, err := said(t, "man", folder); err != nil || text != "" {
		t.Fatalf("%v: %s", err, text)
	}
	pages := 0
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		content, err := os.ReadFile(filepath.Join(folder, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Fatal(err)
		}
		pages++
		text, headings := asRead(string(content))
		if !slices.Equal(headings[:3], []string{"NAME", "SYNOPSIS", "DESCRIPTION"}) {
			t.Errorf("%s has the headings %v", cmd.CommandPath(), headings)
		}
		// Words, because man fills its lines anew. Lists and headings of flags stand in both.
		words := strings.Join(strings.Fields(text), " ")
		for paragraph := range strings.SplitSeq(helpOf(t, cmd), "\n\n") {
			for _, part := range entries.Split(strings.TrimPrefix(paragraph, "Usage:\n"), -1) {
				part = strings.Join(strings.Fields(heading.ReplaceAllString(part, "")), " ")
				if !strings.HasPrefix(part, "Use \"") && !strings.Contains(words, part) {
					t.Errorf("the page of %s lacks\n%s", cmd.CommandPath(), part)
				}
			}
		}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				look(sub)
			}
		}
	}
	look(newRoot())
	if files, err := os.ReadDir(folder); err != nil || len(files) != pages || pages < 20 {
		t.Errorf("%d pages, %d files, %v", pages, len(files), err)
	}
}

var (
	// entries begin with a flag or with a command. The help aligns them in columns of its own. The help command has no
	// page.
	entries = regexp.MustCompile(`(?m)^ {2,6}(?:-\w, )?--|^  help .*$|^  [a-z-]+ {2,}`)
	heading = regexp.MustCompile(`(?m)^(Usage|Flags|Examples|Available Commands|` +
		strings.Join(config.Groups, "|") + `):$|^  pgflurry.* \[command\]$`)
)

func TestALineOfAManualPageIsNeverARequest(t *testing.T) {
	var page roff
	page.paragraphs(".dot\n'quote\n\n  kept \\n\n  .dot\nend - it's")
	want := `\&.dot
\&\(aqquote
.PP
.nf
\&  kept \en
\&  .dot
.fi
\&end \- it\(aqs
`
	if page.String() != want {
		t.Errorf("got\n%s\nexpected\n%s", page.String(), want)
	}
}
