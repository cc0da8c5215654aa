package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
)

// helpColumns is the maximum width of help.
const helpColumns = 100

// wrapHelp fits the help of root and all its subcommands to helpColumns.
func wrapHelp(root *cobra.Command) {
	cobra.AddTemplateFunc("wrapped", wrapped)
	cobra.AddTemplateFunc("flagUsages", flagUsages)
	root.SetHelpTemplate(strings.Replace(root.HelpTemplate(), ". | trim", ". | wrapped | trim", 1))
	root.SetUsageTemplate(strings.NewReplacer(
		"\nFlags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}", "{{flagUsages .}}",
		".InheritedFlags.FlagUsages", "(.InheritedFlags.FlagUsagesWrapped 100)").Replace(root.UsageTemplate()))
}

// flagUsages lists the flags of a command, below the headings that they have. Where there are headings, it lists names
// alone: the help then fits on a screen.
func flagUsages(cmd *cobra.Command) string {
	groups := flagGroups(cmd.LocalFlags())
	if len(groups) == 1 {
		return strings.TrimRight("\nFlags:\n"+groups[0].flags.FlagUsagesWrapped(helpColumns), "\n")
	}
	var text strings.Builder
	for _, group := range groups {
		var names []string
		group.flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		text.WriteString("\n" + group.title + ":\n" + wrapped(strings.Join(names, " ")))
	}
	words := strings.Fields(cmd.CommandPath())
	return fmt.Sprintf("%s\n\"%s help %s --flags\" says what each flag does.", text.String(), words[0],
		strings.Join(words[1:], " "))
}

// everyFlag says what each flag of a command does.
func everyFlag(cmd *cobra.Command) string {
	var text strings.Builder
	for _, group := range flagGroups(cmd.LocalFlags()) {
		text.WriteString(group.title + ":\n" + group.flags.FlagUsagesWrapped(helpColumns) + "\n")
	}
	return text.String()
}

// A flagGroup has the flags below one heading of the help.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroups sorts the flags of a command into the groups that it has. cobra's own flags stand in the last.
func flagGroups(all *pflag.FlagSet) (groups []flagGroup) {
	below := make(map[string]*pflag.FlagSet)
	for _, title := range append([]string{""}, config.Groups...) {
		below[title] = &pflag.FlagSet{}
	}
	grouped := false
	all.VisitAll(func(f *pflag.Flag) { grouped = grouped || source.Has(f, source.Group) })
	all.VisitAll(func(f *pflag.Flag) {
		title := ""
		switch {
		case source.Has(f, source.Group):
			title = f.Annotations[source.Group][0]
		case grouped && source.OwnFlag(f):
			title = config.OperationGroup
		}
		below[title].AddFlag(f)
	})
	for _, title := range append([]string{""}, config.Groups...) {
		if title == "" || below[title].HasAvailableFlags() {
			groups = append(groups, flagGroup{cmp.Or(title, "Flags"), below[title]})
		}
	}
	return groups
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
