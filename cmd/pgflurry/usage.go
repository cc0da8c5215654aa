package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// usageError adds a hint to the error of a wrong command line: see the help of the command.
func usageError(cmd *cobra.Command, err error) error { return usageErrorNear(cmd, err, "") }

// usageErrorNear is usageError with the name that was perhaps meant; empty: none is similar.
func usageErrorNear(cmd *cobra.Command, err error, near string) error {
	advice := fmt.Sprintf("See \"%s --help\".", cmd.CommandPath())
	if near != "" {
		advice = fmt.Sprintf("Did you mean %s? ", near) + advice
	}
	return fault.WithKind(fault.Usage, fault.WithHint(err, advice))
}

// flagError is the error of a flag that was not understood.
func flagError(cmd *cobra.Command, err error) error {
	near := ""
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if near = source.Nearest(unknown.GetSpecifiedName(), names); near != "" {
			near = "--" + near
		}
	}
	return usageErrorNear(cmd, unquoted(err), near)
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
		return source.NotTaken(wrong.GetFlag(), wrong.GetValue(), wrong)
	case !connect.MayHoldPassword(err.Error()):
		return err
	}
	return fmt.Errorf("a flag was not understood; it is %s; names of flags begin with two dashes",
		connect.NotRepeated)
}

// noCommand is the error of a command that does not exist.
func noCommand(above *cobra.Command, name string) error {
	var names []string
	for _, sub := range above.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	near := source.Nearest(name, names)
	if near != "" {
		near = fmt.Sprintf("%q", above.CommandPath()+" "+near)
	}
	err := fmt.Errorf("%s is no command of %q", connect.Shown(name), above.CommandPath())
	return usageErrorNear(above, err, near)
}

// behindItsFlag says where a connection string belongs that stands without its flag. It never repeats the string.
func behindItsFlag(cmd *cobra.Command, argument string) (said string) {
	if !connect.LooksLikeOne(argument) && !connect.MayHoldPassword(argument) {
		return ""
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if source.Has(f, source.Secret) && !source.Has(f, source.CommandLineOnly) {
			said = "; the URL of the database belongs behind --" + f.Name
		}
	})
	return said
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
				return noCommand(cmd, args[0])
			case check(cmd, nil) == nil && check(cmd, args[:1]) != nil: // it takes no arguments at all
				err = fmt.Errorf("%q takes no arguments, but was given %s%s",
					cmd.CommandPath(), connect.Shown(args[0]), behindItsFlag(cmd, args[0]))
			}
			return usageError(cmd, err)
		}
	}
	for _, sub := range cmd.Commands() {
		leadOn(sub)
	}
}
