package main

import (
	"log/slog"
	"os"
	"time"

	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	given     config.Given
	threshold slog.LevelVar // level of the log; a reload may change it
}

// add adds all flags to a command.
func (o *serveOptions) add(flags *pflag.FlagSet) {
	for _, r := range config.Rows(hostname()) {
		if r.Name == "listen" {
			r.Default = usualListen
		}
		switch to := r.To(&o.given).(type) {
		case *string:
			flags.StringVar(to, r.Name, usual[string](r), r.Help)
		case *bool:
			flags.BoolVar(to, r.Name, usual[bool](r), r.Help)
		case *int:
			flags.IntVar(to, r.Name, usual[int](r), r.Help)
		case *time.Duration:
			flags.DurationVar(to, r.Name, usual[time.Duration](r), r.Help)
		case *[]string:
			flags.StringSliceVar(to, r.Name, usual[[]string](r), r.Help)
		}
		source.Describe(flags, r)
	}
	o.given.Host = hostname()
	source.Collect(flags)
}

// usual is the default of a row.
func usual[T any](r config.Row) T {
	value, _ := r.Default.(T)
	return value
}

// settings returns the settings of the node. c collects all errors in them.
func (o *serveOptions) settings(c *source.Values) config.Settings {
	c.RefuseEmpty()
	s, err := o.given.Parse()
	s.Version, s.SecretFiles = version(), c.SecretFiles()
	c.Check(err)
	return s
}

// hostname is the default name of a node. If the system does not know it, the name is empty, and --node is required.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
