package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/connstring"
	"pgflurry/hint"
	"pgflurry/outcome"
)

// usageError adds a hint to the error of a wrong command line: see the help of the command.
func usageError(cmd *cobra.Command, err error) error {
	return outcome.As(outcome.Usage, hint.With(unquoted(err), fmt.Sprintf("See \"%s --help\".", cmd.CommandPath())))
}

// flagsFit makes the checks that cobra would make next, so that their errors get the same hint.
func flagsFit(cmd *cobra.Command) error {
	if err := errors.Join(cmd.ValidateRequiredFlags(), cmd.ValidateFlagGroups()); err != nil {
		if both := excluding.FindStringSubmatch(err.Error()); both != nil {
			err = fmt.Errorf("--%s exclude each other; give one of them",
				strings.ReplaceAll(both[1], " ", " and --"))
		}
		return usageError(cmd, err)
	}
	return nil
}

// excluding matches cobra's error about flags that exclude each other.
var excluding = regexp.MustCompile(`none of the others can be; \[(.*)\] were all set`)

// unquoted removes what may be a password from an error about a flag: pflag quotes -database=URL and --window URL. It
// says what the flag takes, and not which Go function has failed.
func unquoted(err error) error {
	var wrong *pflag.InvalidValueError
	switch {
	case errors.As(err, &wrong):
		return notTaken(wrong.GetFlag(), wrong.GetValue(), wrong)
	case !connstring.MayHoldPassword(err.Error()):
		return err
	}
	return fmt.Errorf("a flag was not understood; it is %s; names of flags begin with two dashes",
		connstring.NotRepeated)
}

// leadOn gives all errors in the arguments of cmd and its subcommands the hint of usageError.
func leadOn(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			switch {
			case err == nil:
				return nil
			case cmd.HasSubCommands():
				err = fmt.Errorf("%s is no command of %q", connstring.Shown(args[0]), cmd.CommandPath())
			case check(cmd, nil) == nil && check(cmd, args[:1]) != nil: // it takes no arguments at all
				err = fmt.Errorf("%q takes no arguments, but was given %s",
					cmd.CommandPath(), connstring.Shown(args[0]))
			}
			return usageError(cmd, err)
		}
	}
	for _, sub := range cmd.Commands() {
		leadOn(sub)
	}
}
