package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"pgflurry/connstring"
	"pgflurry/hint"
	"pgflurry/outcome"
)

// A flag gets its value from the first of these places that has one: the command line, the environment, the
// configuration file. Each place but the first gives texts by the names of flags, and says where each is from, so that
// one function sets them all and every complaint can name the place.

// A given is what a place has for one flag.
type given struct {
	values []string // one, or the elements of a list
	list   bool
	origin string // "environment variable PGFLURRY_WINDOW", "key window in line 3 of pgflurry.toml"
}

// A place has values for flags, by their names.
type place map[string]given

// A configuration is where the flags of a command have their values from, and all that is wrong with what was given.
type configuration struct {
	flags   *pflag.FlagSet
	origins map[string]string // of flags that have another value than their default; theCommandLine where that gave it
	failed  map[string]bool   // flags that were given something they do not take
	wrong   []error
}

const theCommandLine = "command line"

// configure gives the flags that the command line left alone what the environment and the configuration file have for
// them. environ is as os.Environ gives it.
func configure(flags *pflag.FlagSet, environ []string) *configuration {
	c := &configuration{flags: flags, origins: make(map[string]string), failed: make(map[string]bool)}
	flags.VisitAll(func(f *pflag.Flag) {
		if kept, is := f.Value.(*collected); is && kept.wrong != nil {
			c.refuse(f.Name, kept.wrong)
		}
		if !f.Changed {
			return
		}
		c.origins[f.Name] = theCommandLine
		if f.Annotations[commandLineOnly] != nil && f.Value.Type() == "string" && f.Value.String() == "" {
			c.refuse(f.Name, saysNothing(f))
		}
	})
	c.take(c.environment(environ))
	if path := flags.Lookup(configFlag); path != nil && path.Value.String() != "" {
		c.take(c.file(path.Value.String()))
	}
	return c
}

// take sets the flags that no place before has set.
func (c *configuration) take(values place) {
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

// refuse keeps what is wrong with the value of a flag.
func (c *configuration) refuse(flag string, err error) {
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
			g.origin, connstring.Shown(text), name, expected(f, err))
	}
	return nil
}

// expected is what a flag takes; cause is why it did not take a value.
func expected(f *pflag.Flag, cause error) string {
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "int":
		return "a whole number, such as 100"
	case "duration":
		return "a duration, such as 60s or 5m"
	}
	inner := errors.Unwrap(cause)
	if inner == nil || connstring.MayHoldPassword(cause.Error()) {
		return "another value"
	}
	return "another value: " + inner.Error()
}

// collected is a flag's value that keeps what is wrong with it. The reading of the command line then goes on, and all
// that is wrong is told at once.
type collected struct {
	pflag.Value
	flag  *pflag.Flag
	wrong error
}

// collect makes the flags that take no text at all keep what is wrong with them. A bool is its own documentation, and
// a list of names takes anything.
func collect(flags *pflag.FlagSet) {
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
		c.wrong = notTaken(c.flag, text, err)
		return c.Value.Set(before) // pflag has set it to 0, which would be found wrong once more
	}
	return nil
}

// notTaken is the error of a value on the command line that a flag does not take.
func notTaken(f *pflag.Flag, text string, cause error) error {
	return fmt.Errorf("--%s is %s; expected %s", f.Name, connstring.Shown(text), expected(f, cause))
}

// flagName finds the flags that a message names.
var flagName = regexp.MustCompile(`--([a-z][a-z0-9-]*[a-z0-9])`)

// check adds what is wrong with the values themselves, which names flags, and says where those have their values from.
func (c *configuration) check(all error) {
	for _, err := range flat(all) {
		text, places, repeats := err.Error(), []string(nil), false
		for _, match := range flagName.FindAllStringSubmatch(text, -1) {
			name := match[1]
			lost := c.failed[name] || c.failed[configFlag] // the flag was given, or would have been
			repeats = repeats || lost && strings.Contains(text, "--"+name+" is missing")
			origin := c.origins[name]
			if from := "--" + name + " is from " + origin; origin != "" && origin != theCommandLine &&
				!slices.Contains(places, from) {
				places = append(places, from)
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

// err is all that is wrong, as one error; nil where nothing is.
func (c *configuration) err() error {
	if len(c.wrong) == 0 {
		return nil
	}
	return problems(c.wrong)
}

// print writes what each flag has, and from where.
func (c *configuration) print(w io.Writer) error {
	aligned := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(aligned, "configuration is good")
	c.flags.VisitAll(func(f *pflag.Flag) {
		if ownFlag(f) || f.Annotations[commandLineOnly] != nil {
			return
		}
		value, origin := f.Value.String(), c.origins[f.Name]
		switch {
		case origin == "":
			origin = "default"
		case isSecret(f):
			value = "(not shown)"
		}
		if connstring.MayHoldPassword(value) {
			value = "(not shown)"
		}
		fmt.Fprintf(aligned, "%s\t%s\t%s\n", f.Name, cell(value), origin)
	})
	return aligned.Flush() // which tells what failed before
}

// problems are all that is wrong with a configuration.
type problems []error

func (p problems) Error() string {
	if len(p) == 1 {
		return p[0].Error()
	}
	text := fmt.Sprintf("%d things are wrong with the configuration:", len(p))
	for _, err := range p {
		text += "\n  " + err.Error()
		if advice := hint.Of(err); advice != "" {
			text += "\n    hint: " + advice
		}
	}
	return text
}

// Hint is that of the only one; several have theirs beside them.
func (p problems) Hint() string {
	if len(p) == 1 {
		return hint.Of(p[0])
	}
	return ""
}

// Outcome is that of a wrong command line, wherever the values are from.
func (p problems) Outcome() outcome.Kind { return outcome.Usage }

// flat is each of the errors that errors.Join has joined.
func flat(err error) []error {
	joined, is := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case !is:
		return []error{err}
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, flat(one)...)
	}
	return all
}
