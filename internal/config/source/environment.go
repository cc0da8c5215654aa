package source

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"pgflurry/internal/fault"
)

// VariablePrefix is the prefix of every environment variable of the program.
const VariablePrefix = "PGFLURRY_"

// noConsent is the error if the environment or a file sets a flag that only the command line may give; nil for other
// flags.
func noConsent(f *pflag.Flag, origin string) error {
	why := f.Annotations[CommandLineOnly]
	if why == nil {
		return nil
	}
	return fault.WithHint(fmt.Errorf("%s is set, but --%s %s and is taken from the command line only",
		origin, f.Name, why[0]),
		fmt.Sprintf("Remove it, and give --%s on the command line of the one command it is meant for.", f.Name))
}

// empty is the error of a flag with an empty value, as a script gives it when a variable is not set. To ignore
// such a flag could make an ID space that nobody asked for.
func empty(f *pflag.Flag) error {
	kind, _ := pflag.UnquoteUsage(f)
	return fault.WithHint(fmt.Errorf("--%s is empty; expected %s", f.Name, kind),
		fmt.Sprintf("Is a variable of your script not set? Without a value leave --%s out.", f.Name))
}

// Variable is the name of the environment variable of a flag.
func Variable(flag string) string {
	return VariablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Variables are those of the environment that have the prefix.
func Variables(environ []string) map[string]string {
	ours := make(map[string]string)
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, VariablePrefix) {
			ours[name] = value
		}
	}
	return ours
}

// environment reads the values of flags that the command line does not give.
func (c *Values) environment(environ []string) place {
	ours, values := Variables(environ), make(place)
	c.flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || OwnFlag(f) {
			return
		}
		name := Variable(f.Name)
		origin := "environment variable " + name
		text, is := ours[name]
		file, inFile := ours[name+VariableOfFile]
		inFile = inFile && Has(f, Secret)
		switch err := noConsent(f, origin); {
		case is && err != nil:
			c.refuse(f.Name, err)
		case is && inFile:
			c.refuse(f.Name, twice(origin, origin+VariableOfFile))
		case is:
			values[f.Name] = given{values: []string{text}, origin: origin}
		case inFile:
			c.secret(values, f, file, origin+VariableOfFile)
		}
	})
	return values
}

// OwnFlag says whether cobra has added the flag.
func OwnFlag(f *pflag.Flag) bool { return f.Name == "help" || f.Name == "version" }
