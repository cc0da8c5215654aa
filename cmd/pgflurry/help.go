package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpColumns is the maximum width of help.
const helpColumns = 100

// manyFlags is from how many flags on the help groups them.
const manyFlags = 15

// flagGroups are the groups, in order. A flag belongs to the first group that takes it.
var flagGroups = []struct {
	title string
	takes func(name string) bool
}{
	{"ID database: sessions without PostgreSQL", func(name string) bool {
		return strings.HasPrefix(name, "id-") || name == "max-id-sessions"
	}},
	{"Limits on clients", func(name string) bool {
		return strings.HasPrefix(name, "max-") || name == "login-timeout" || name == "client-tls-timeout"
	}},
	{"TLS and logins", func(name string) bool { return strings.Contains(name, "-tls") || name == "client-auth" }},
	{"Configuration, log and operation", func(name string) bool {
		return strings.HasPrefix(name, "admin-") || strings.HasPrefix(name, "log-") ||
			strings.Contains(name, "config") || ownFlag(&pflag.Flag{Name: name})
	}},
}

// wrapHelp fits the help of root and all its subcommands to helpColumns.
func wrapHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("wrapped", wrapped)
	cobra.AddTemplateFunc("flagUsages", flagUsages)
	root.SetHelpTemplate(strings.Replace(root.HelpTemplate(), ". | trim", ". | wrapped | trim", 1))
	root.SetUsageTemplate(strings.NewReplacer(
		"\nFlags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagUsages .LocalFlags}}",
		".InheritedFlags.FlagUsages", "(.InheritedFlags.FlagUsagesWrapped 100)").Replace(root.UsageTemplate()))
}

// flagUsages lists the flags of a command, in groups if there are many.
func flagUsages(all *pflag.FlagSet) string {
	var first pflag.FlagSet
	groups := make([]pflag.FlagSet, len(flagGroups))
	count := 0
	all.VisitAll(func(*pflag.Flag) { count++ })
	all.VisitAll(func(f *pflag.Flag) {
		for i, g := range flagGroups {
			if count >= manyFlags && g.takes(f.Name) {
				groups[i].AddFlag(f)
				return
			}
		}
		first.AddFlag(f)
	})
	text := "\nFlags:\n" + first.FlagUsagesWrapped(helpColumns)
	for i := range groups {
		if groups[i].HasAvailableFlags() {
			text += "\n" + flagGroups[i].title + ":\n" + groups[i].FlagUsagesWrapped(helpColumns)
		}
	}
	return strings.TrimRight(text, "\n")
}

// wrapped fills the paragraphs of a text. Lines that begin with a space stay as they are.
func wrapped(text string) string {
	var out strings.Builder
	column := 0
	end := func() {
		if column > 0 {
			out.WriteByte('\n')
		}
		column = 0
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == ' ' {
			end()
			out.WriteString(line + "\n")
			continue
		}
		for _, word := range strings.Fields(line) {
			width := len([]rune(word))
			switch {
			case column == 0:
			case column+1+width > helpColumns:
				end()
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(word)
			column += width
		}
	}
	end()
	return out.String()
}
