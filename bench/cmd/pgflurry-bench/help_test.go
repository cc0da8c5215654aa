package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/tests/support/prose"
)

func TestSentencesOfHelpAreShort(t *testing.T) {
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			prose.Check(t, 1, prose.Comment(cmd.Long))
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { prose.Check(t, 1, prose.Comment(f.Usage)) })
		})
		for _, sub := range cmd.Commands() {
			look(sub)
		}
	}
	look(newRoot())
}
