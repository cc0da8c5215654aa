package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newMan builds the hidden command that writes the manual pages of packages.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual pages",
		Long: `man writes a manual page for each command into a folder: pgflurry.1, pgflurry-serve.1 and so on. Their
texts are those of --help.`,
		Hidden: true, // users get the pages from a package
		Args:   cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writeManual(cmd.Root(), args[0]) },
	}
}

// writeManual writes the pages of cmd and of all commands below it.
func writeManual(cmd *cobra.Command, folder string) error {
	path := filepath.Join(folder, pageName(cmd)+".1")
	if err := os.WriteFile(path, []byte(manualPage(cmd)), 0o644); err != nil {
		return err
	}
	for _, sub := range documented(cmd) {
		if err := writeManual(sub, folder); err != nil {
			return err
		}
	}
	return nil
}

// documented are the commands below cmd that have a page.
func documented(cmd *cobra.Command) (subs []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			subs = append(subs, sub)
		}
	}
	return subs
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage is the page of a command, in the language of man (roff). It has the texts of the help and no others, so
// the two cannot differ.
func manualPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag() // as the command itself does when it runs
	cmd.InitDefaultVersionFlag()
	var page roff
	page.request(".TH", strings.ToUpper(pageName(cmd)), "1", "", "pgflurry "+version(), "pgflurry")
	page.section("NAME")
	page.line(pageName(cmd) + " - " + cmd.Short)
	page.section("SYNOPSIS")
	page.line(cmd.UseLine())
	page.section("DESCRIPTION")
	page.paragraphs(strings.TrimSpace(cmd.Long))
	if subs := documented(cmd); len(subs) > 0 {
		page.section("COMMANDS")
		for _, sub := range subs {
			page.entry(sub.CommandPath(), sub.Short)
		}
	}
	page.section("OPTIONS")
	for _, group := range flagGroups(cmd.LocalFlags()) {
		if group.title != "" {
			page.request(".SS", group.title)
		}
		group.flags.VisitAll(page.flag)
	}
	if cmd.Example != "" {
		page.section("EXAMPLES")
		page.paragraphs(cmd.Example)
	}
	if cmd.HasParent() {
		page.section("SEE ALSO")
		page.line(pageName(cmd.Parent()) + "(1)")
	}
	return page.String()
}

// roff is a page that grows. A line of text never becomes a request by chance.
type roff struct{ strings.Builder }

func (r *roff) request(name string, arguments ...string) {
	r.WriteString(name)
	for _, argument := range arguments {
		r.WriteString(` "` + escaped.Replace(argument) + `"`)
	}
	r.WriteByte('\n')
}

func (r *roff) section(title string) { r.request(".SH", title) }

// escaped keeps characters as they are: man turns a dash into a hyphen, which no shell understands.
var escaped = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`)

// line writes a line of text. \& in front of it is invisible, and keeps a dot from being a request.
func (r *roff) line(text string) { r.WriteString(`\&` + escaped.Replace(text) + "\n") }

// paragraphs writes a text as the help shows it: man fills paragraphs, and lines that begin with a space stay as they
// are.
func (r *roff) paragraphs(text string) {
	kept := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, " ") && !kept:
			r.request(".nf")
		case !strings.HasPrefix(line, " ") && kept:
			r.request(".fi")
		}
		kept = strings.HasPrefix(line, " ")
		if line == "" {
			r.request(".PP")
			continue
		}
		r.line(line)
	}
	if kept {
		r.request(".fi")
	}
}

// entry writes a term, and its explanation below it.
func (r *roff) entry(term, text string) {
	r.request(".TP")
	r.WriteString(`\fB` + escaped.Replace(term) + `\fR` + "\n")
	r.line(text)
}

// flag writes the entry that the help has for a flag.
func (r *roff) flag(f *pflag.Flag) {
	var alone pflag.FlagSet
	alone.AddFlag(f)
	term, text, _ := strings.Cut(strings.TrimSpace(alone.FlagUsages()), "   ")
	if term != "" { // else the flag is hidden
		r.entry(term, strings.TrimSpace(text))
	}
}
