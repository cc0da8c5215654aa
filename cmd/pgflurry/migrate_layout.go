package main

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
)

// layoutFlags describe a new namespace: its IDs, and the names of its functions.
type layoutFlags struct {
	layout, epoch   string
	unit            time.Duration
	region, space   string
	functions       string
	databaseWorkers int
	foreign         string
	disposable      bool
}

// register adds the flags. otherwise completes what the usages say of defaults: up may find a namespace, print never
// does.
func (f *layoutFlags) register(flags *pflag.FlagSet, otherwise string) {
	flags.StringVar(&f.layout, "layout", "", "`BITS` of timestamp/datacenter/worker/sequence, "+
		"or twitter, datacenter, javascript (default 41/0/10/12"+otherwise+")")
	flags.StringVar(&f.epoch, "epoch", "",
		"instant of the first tick, `RFC3339`, at least a day ago (default 2024-01-01T00:00:00Z"+otherwise+")")
	source.Describe(flags, config.Row{Name: "layout", Enum: layouts})
	flags.DurationVar(&f.unit, "unit", 0, "length of a tick, 1ms to 1s (default 1ms"+otherwise+")")
	flags.StringVar(&f.region, "region", "", "`NUMBER` of the region that this database is. No other database "+
		"may have it: the region gets only the workers of that datacenter (default none"+otherwise+")")
	flags.StringVar(&f.space, "namespace", "", "`FINGERPRINT` of the ID space that --region belongs to. \"pgflurry "+
		"namespace show\" prints it in another region (default that of a new ID space"+otherwise+")")
	flags.IntVar(&f.databaseWorkers, "database-workers", 0,
		"`NUMBER` of workers kept for database functions. Each database that ever joins the namespace takes "+
			"one for good. The number cannot be raised (default 16, fewer in a small layout or a region)")
	flags.StringVar(&f.foreign, "foreign-workers", "", "`LIST`, such as 0-31,991, or none: workers with which a "+
		"generator of another kind gives IDs. Neither a proxy nor a function ever gets one. The list cannot change "+
		"(default none"+otherwise+")")
	flags.BoolVar(&f.disposable, "disposable", false, "make a new namespace FOR TESTS ONLY: copies of the database "+
		"need no --join and give the same IDs. Test runners make such copies from a template")
}

// registerFunctions adds --functions. otherwise is as in register.
func (f *layoutFlags) registerFunctions(flags *pflag.FlagSet, otherwise string) {
	flags.StringVar(&f.functions, "functions", "", "`WHICH` functions get a name in schema public: snowflake, that is "+
		"next_snowflake() and its kin, or all. Call the others with schema pgflurry, such as pgflurry.incr(key) "+
		"(default snowflake"+otherwise+")")
	source.Describe(flags, config.Row{Name: "functions", Enum: []string{sqlfuncs.Snowflake, sqlfuncs.All}})
}

// layouts are examples of --layout for a shell.
var layouts = []string{"twitter", "datacenter", "javascript", "41/0/10/12"}

// settings checks what can be checked without a database.
func (f *layoutFlags) settings() (migrations.Settings, error) {
	s := migrations.Settings{
		Layout: f.layout, Unit: f.unit, DatabaseWorkers: f.databaseWorkers, Disposable: f.disposable,
		Functions: f.functions, Version: version(),
	}
	if f.epoch != "" {
		epoch, err := time.Parse(time.RFC3339Nano, f.epoch)
		if err != nil {
			return s, fault.WithKind(fault.Usage,
				fmt.Errorf("--epoch %s is not an instant like 2024-01-01T00:00:00Z", connect.Shown(f.epoch)))
		}
		s.Epoch = epoch
	}
	if f.space != "" {
		space, err := namespace.ParseFingerprint(f.space)
		if err != nil {
			return s, fmt.Errorf("--namespace: %w", err)
		}
		s.Space = &space
	}
	if f.foreign != "" {
		foreign, err := namespace.ParseRanges(f.foreign)
		if err != nil {
			return s, fault.WithKind(fault.Usage,
				fmt.Errorf("--foreign-workers %s: %w", connect.Shown(f.foreign), err))
		}
		s.Foreign = &foreign
	}
	var err error
	s.Region, err = config.Number("region", f.region, "none")
	return s, err
}
