package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A hintedError is an error with what to do next, which main prints below it.
type hintedError struct {
	error
	hint string // whole sentences
}

func (e hintedError) Unwrap() error { return e.error }

// Hint implements what main looks for.
func (e hintedError) Hint() string { return e.hint }

func hint(err error, advice string) error { return hintedError{err, advice} }

// usageError leads from a command line that is wrong to the help of its command.
func usageError(cmd *cobra.Command, err error) error {
	return hint(unquoted(err), fmt.Sprintf("See \"%s --help\".", cmd.CommandPath()))
}

// unquoted is an error about a flag without what may be a password in it: -database=URL and --window URL are quoted by pflag.
func unquoted(err error) error {
	var wrong *pflag.InvalidValueError
	switch {
	case !mayHoldPassword(err.Error()):
		return err
	case errors.As(err, &wrong) && mayHoldPassword(wrong.GetValue()):
		return fmt.Errorf("--%s was given %s", wrong.GetFlag().Name, notRepeated)
	case errors.As(err, &wrong):
		return err
	}
	return fmt.Errorf("a flag was not understood; it is %s; names of flags begin with two dashes", notRepeated)
}

// leadOn makes every usage error of cmd and of the commands below it lead on.
func leadOn(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			switch {
			case err == nil:
				return nil
			case cmd.HasSubCommands():
				err = fmt.Errorf("%s is no command of %q", shown(args[0]), cmd.CommandPath())
			case check(cmd, nil) == nil && check(cmd, args[:1]) != nil: // then it takes none at all
				err = fmt.Errorf("%q takes no arguments, but was given %s", cmd.CommandPath(), shown(args[0]))
			}
			return usageError(cmd, err)
		}
	}
	for _, sub := range cmd.Commands() {
		leadOn(sub)
	}
}
