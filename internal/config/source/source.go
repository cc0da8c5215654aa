package source

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// A given is the value that a place has for one flag.
type given struct {
	values []string // one value, or the elements of a list
	list   bool
	origin string // "environment variable PGFLURRY_WINDOW", "key window in line 3 of pgflurry.toml"
}

// A place has values for flags, by their names.
type place map[string]given

// Values knows where each flag of a command has its value from, and collects all errors in the values.
type Values struct {
	flags   *pflag.FlagSet
	origins map[string]string // of flags that something has set
	failed  map[string]bool   // flags that were given a value they do not take
	wrong   []error
	secrets []string // files of secrets that were read
}

// CommandLine is the origin of a flag that the user gave there.
const CommandLine = "command line"

// Read sets the flags that the command line does not give, from the environment and the configuration file.
// environ is in the format of os.Environ.
func Read(flags *pflag.FlagSet, environ []string) *Values {
	c := &Values{flags: flags, origins: make(map[string]string), failed: make(map[string]bool)}
	flags.VisitAll(func(f *pflag.Flag) {
		if kept, is := f.Value.(*collected); is && kept.wrong != nil {
			c.refuse(f.Name, kept.wrong)
		}
		if !f.Changed {
			return
		}
		c.origins[f.Name] = CommandLine
		if Has(f, CommandLineOnly) && f.Value.Type() == "string" && f.Value.String() == "" {
			c.refuse(f.Name, empty(f))
		}
	})
	c.set(c.environment(environ))
	if path := flags.Lookup(ConfigFlag); path != nil && path.Value.String() != "" {
		c.set(c.file(path.Value.String()))
	}
	return c
}

// Flags are the flags with their values.
func (c *Values) Flags() *pflag.FlagSet { return c.flags }

// Origin is the place that a flag has its value from, such as CommandLine; empty: it has its default.
func (c *Values) Origin(name string) string { return c.origins[name] }

// SecretFiles are the files of secrets that were read.
func (c *Values) SecretFiles() []string { return c.secrets }

// set sets the flags that no earlier place has set.
func (c *Values) set(values place) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if c.origins[name] != "" || c.failed[name] {
			continue
		}
		g := values[name]
		if err := g.set(c.flags, name); err != nil {
			c.refuse(name, err)
			continue
		}
		c.origins[name] = g.origin
	}
}

// refuse records an error in the value of a flag.
func (c *Values) refuse(flag string, err error) {
	c.failed[flag] = true
	c.wrong = append(c.wrong, err)
}

// set gives the flag its value.
func (g given) set(flags *pflag.FlagSet, name string) error {
	f := flags.Lookup(name)
	if elements, is := f.Value.(pflag.SliceValue); is && g.list {
		f.Changed = true
		return elements.Replace(g.values)
	}
	text := strings.Join(g.values, ",")
	err := flags.Set(name, text)
	if kept, is := f.Value.(*collected); is {
		err = kept.wrong
	}
	if err != nil {
		return fmt.Errorf("%s is %s, which --%s does not take; expected %s",
			g.origin, connect.Shown(text), name, expected(f, err))
	}
	return nil
}

// expected describes what a flag takes. cause is the error of the value that it did not take.
func expected(f *pflag.Flag, cause error) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int", "int64":
		return "a whole number, such as 100"
	case "duration":
		return "a duration, such as 60s or 5m"
	}
	inner := errors.Unwrap(cause)
	if inner == nil || connect.MayHoldPassword(cause.Error()) {
		return "another value"
	}
	return "another value: " + inner.Error()
}

// collected is a flag value that records its error. So pflag reads on, and the user sees all errors at once.
type collected struct {
	pflag.Value
	flag  *pflag.Flag
	wrong error
}

// Collect wraps the flags that do not take every text. Flags of bool or of a list of names need no wrapper.
func Collect(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if kind := f.Value.Type(); kind == "int" || kind == "duration" {
			f.Value = &collected{Value: f.Value, flag: f}
		}
	})
}

func (c *collected) Set(text string) error {
	c.wrong = nil
	before := c.Value.String()
	if err := c.Value.Set(text); err != nil {
		c.wrong = NotTaken(c.flag, text, err)
		return c.Value.Set(before) // pflag has set it to 0, which would be a second error
	}
	return nil
}

// NotTaken is the error of a value on the command line that a flag does not take.
func NotTaken(f *pflag.Flag, text string, cause error) error {
	return fmt.Errorf("--%s is %s; expected %s", f.Name, connect.Shown(text), expected(f, cause))
}

// Check adds the errors in the values themselves, and where those have their values from.
func (c *Values) Check(all error) {
	for _, err := range config.Each(all) {
		var about *config.Wrong
		if !errors.As(err, &about) {
			c.wrong = append(c.wrong, err)
			continue
		}
		var places []string
		repeats := false
		for _, name := range about.Settings {
			lost := c.failed[name] || c.failed[ConfigFlag] // a value was given, or perhaps in a file that failed
			repeats = repeats || lost && about.Missing
			if origin := c.origins[name]; origin != "" && origin != CommandLine {
				places = append(places, "--"+name+" is from "+origin)
			}
		}
		switch {
		case repeats:
		case len(places) > 0:
			c.wrong = append(c.wrong, fmt.Errorf("%w (%s)", err, strings.Join(places, "; ")))
		default:
			c.wrong = append(c.wrong, err)
		}
	}
}

// RefuseEmpty refuses an empty text where the default is none. A variable of a script that is not set would otherwise
// switch TLS to the upstream off, and say nothing.
func (c *Values) RefuseEmpty() {
	c.flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "string" && f.DefValue != "" && f.Value.String() == "" && !c.failed[f.Name] {
			c.refuse(f.Name, empty(f))
		}
	})
}

// Err joins all errors into one; nil if there is none.
func (c *Values) Err() error {
	if len(c.wrong) == 0 {
		return nil
	}
	return Problems(c.wrong)
}

// Print writes the value of each flag, and where it is from.
func (c *Values) Print(w io.Writer) error {
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(aligned, "configuration is good")
	c.flags.VisitAll(func(f *pflag.Flag) {
		if OwnFlag(f) || Has(f, CommandLineOnly) {
			return
		}
		value, origin := f.Value.String(), c.origins[f.Name]
		switch {
		case origin == "":
			origin = "default"
		case Has(f, Secret):
			value = "(not shown)"
		}
		if connect.MayHoldPassword(value) && !isOneOf(f, value) {
			value = "(not shown)"
		}
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(aligned, "%s\t%s\t%s\n", f.Name, value, origin)
	})
	return aligned.Flush() // an earlier error shows here, too
}

// Problems are all errors of a configuration.
type Problems []error

func (p Problems) Error() string {
	if len(p) == 1 {
		return p[0].Error()
	}
	text := fmt.Sprintf("%d things are wrong with the configuration:", len(p))
	for _, err := range p {
		text += "\n  " + err.Error()
		if advice := fault.HintOf(err); advice != "" {
			text += "\n    hint: " + advice
		}
	}
	return text
}

// Hint is the hint of the only error. Several errors have their hints beside them.
func (p Problems) Hint() string {
	if len(p) == 1 {
		return fault.HintOf(p[0])
	}
	return ""
}

// Kind is that of a wrong command line, whatever place the values are from.
func (p Problems) Kind() fault.Kind { return fault.Usage }
