package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/migrations"
)

// bring does what "migrate up" and the deciding commands of "namespace" have in common. It brings the database to the
// state that the settings ask for, and prints what is true then. done returns sentences about what the command changed,
// which the state alone does not show; nil: none.
func bring(cmd *cobra.Command, url string, s migrations.Settings, done func(migrations.State) []string) error {
	out := cmd.OutOrStdout()
	s.Version = version()
	s.Say = func(sentence string) { _, _ = fmt.Fprintln(out, sentence) }
	shown := showProgress(cmd)
	s.Doing = shown.step
	state, err := migrations.UpState(cmd.Context(), url, s)
	shown.end()
	if err != nil {
		return connect.Explain(err)
	}
	if done != nil && state.Namespace != nil {
		if err := printLines(out, done(state)); err != nil {
			return err
		}
	}
	if err := printState(out, state, url); err != nil {
		return err
	}
	return inPlace(state, url)
}

func printLines(w io.Writer, lines []string) error {
	_, err := io.WriteString(w, strings.Join(append(lines, ""), "\n"))
	return err
}
