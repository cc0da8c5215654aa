package main

import (
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
)

// A reloader gives a running node the current content of the configuration file and of the secret files. The command
// line and the environment of a process cannot change, and win as they did at the start.
type reloader struct {
	started   *source.Values
	environ   []string
	values    map[string]string // of the flags, as in force
	threshold *slog.LevelVar    // level of the log
	give      func(config.Settings) error
	refused   func(cause string) // gets why a configuration was not read, or not taken
	log       *slog.Logger
	listener  net.Listener // from a service manager; nil: none
}

// newReloader makes one that can read. The caller adds the node to which it gives what it has read.
func newReloader(started *source.Values, environ []string, o *serveOptions, s config.Settings) *reloader {
	return &reloader{
		started: started, environ: environ, values: valuesOf(started.Flags()), threshold: &o.threshold,
		log: s.Log, listener: s.Listener,
	}
}

// valuesOf maps the names of flags to their values.
func valuesOf(flags *pflag.FlagSet) map[string]string {
	values := make(map[string]string)
	flags.VisitAll(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
	return values
}

// reload reads everything again. After an error nothing changes at all. One line of the log says what changed. It names
// flags only, because values may be secrets.
func (r *reloader) reload() {
	var fresh serveOptions
	fresh.given.Listener = r.listener // not opened again; the settings are checked against it
	c := r.read(&fresh)
	s := fresh.settings(c)
	err := c.Err()
	if err == nil {
		err = r.give(s)
	}
	if err != nil {
		cause := inOneLine(err)
		fields := append([]any{"cause", cause}, fault.HintField(fault.HintOf(err))...)
		r.log.Error("configuration not reloaded: everything stays as it was", fields...)
		r.refused(cause)
		return
	}
	r.threshold.Set(s.LogLevel)
	changed, waiting := r.compare(c.Flags())
	fields := []any{"changed", orNothing(changed)}
	if s.TLS.Files() {
		fields = append(fields, "tls_files", "read again")
	}
	if s.IDDatabase.AuthFile != "" {
		fields = append(fields, "id_auth_file", "read again")
	}
	if len(waiting) == 0 {
		r.log.Info("configuration reloaded", fields...)
		return
	}
	r.log.Warn("configuration reloaded, but not all of it can change before a restart",
		append(fields, "needs_restart", strings.Join(waiting, ","))...)
}

// read returns fresh flags with their current values.
func (r *reloader) read(o *serveOptions) *source.Values {
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.add(flags)
	r.started.Flags().VisitAll(func(f *pflag.Flag) {
		if r.started.Origin(f.Name) != source.CommandLine || source.OwnFlag(f) {
			return
		}
		again := flags.Lookup(f.Name)
		if list, is := f.Value.(pflag.SliceValue); is {
			_ = again.Value.(pflag.SliceValue).Replace(list.GetSlice()) // the flag has accepted it before
		} else {
			_ = again.Value.Set(f.Value.String()) // and this too
		}
		again.Changed = true
	})
	return source.Read(flags, r.environ)
}

// lease reads only the connection string of the lease again. Other goroutines may call it during a reload.
func (r *reloader) lease() (config.Lease, error) {
	var fresh serveOptions
	c := r.read(&fresh)
	lease, err := config.ParseLease(fresh.given.LeaseDatabase)
	if err != nil && c.Err() != nil { // its file cannot be read
		return lease, c.Err()
	}
	return lease, err
}

// compare lists the flags whose value differs from the one in force: those that change now, and those that wait for a
// restart.
func (r *reloader) compare(flags *pflag.FlagSet) (changed, waiting []string) {
	for name, value := range valuesOf(flags) {
		switch f := flags.Lookup(name); {
		case value == r.values[name]:
		case slices.Contains(f.Annotations[source.ReloadsAt], source.ReloadsValue),
			slices.Contains(f.Annotations[source.ReloadsAt], source.ReloadsPassword) &&
				connect.SameButPassword(value, r.values[name]):
			r.values[name] = value
			changed = append(changed, name)
		default:
			waiting = append(waiting, name)
		}
	}
	slices.Sort(changed)
	slices.Sort(waiting)
	return changed, waiting
}

// orNothing joins names for the log.
func orNothing(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ",")
}

// inOneLine joins several errors with semicolons, for the log.
func inOneLine(err error) string {
	var several source.Problems
	if !errors.As(err, &several) {
		return err.Error()
	}
	texts := make([]string, len(several))
	for i, one := range several {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "; ")
}
