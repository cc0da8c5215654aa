package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
)

// layoutFlags describe a new namespace: its IDs, and whom its workers are for.
type layoutFlags struct {
	layout, epoch   string
	unit            time.Duration
	region          string
	databaseWorkers int
	foreign         string
	disposable      bool
}

func (f *layoutFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.layout, "layout", "", "`BITS` of timestamp/datacenter/worker/sequence, "+
		"or twitter, datacenter, javascript (default 41/0/10/12)")
	flags.StringVar(&f.epoch, "epoch", "",
		"instant of the first tick, `RFC3339`, at least a day ago (default 2024-01-01T00:00:00Z)")
	source.Describe(flags, config.Row{Name: "layout", Enum: layouts})
	flags.DurationVar(&f.unit, "unit", 0, "length of a tick, 1ms to 1s (default 1ms)")
	flags.StringVar(&f.region, "region", "", "`NUMBER` of the first of several regions, which has the workers of that "+
		"datacenter alone (default none)")
	flags.IntVar(&f.databaseWorkers, "database-workers", 0, "`NUMBER` of workers for functions. Each database that "+
		"ever joins takes one for good. The number cannot be raised (default 16, fewer in a small layout or a region)")
	flags.StringVar(&f.foreign, "foreign-workers", "", "`LIST`, such as 0-31,991, of workers with which a generator "+
		"of another kind gives IDs (default none)")
	flags.BoolVar(&f.disposable, "disposable", false, "FOR TESTS ONLY: copies of the database, as test runners make "+
		"them from a template, give the same IDs")
}

// otherRegion names a region of an ID space that exists.
type otherRegion struct {
	region, space string
	after         []string
}

// register adds the flags. what happens to the region.
func (f *otherRegion) register(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.StringVar(&f.region, "region", "", "`NUMBER` of the region that "+what)
	flags.StringVar(&f.space, "namespace", "", "`FINGERPRINT` of its ID space, from \"pgflurry namespace show\"")
	afterFlag(cmd, &f.after)
}

// afterFlag adds --after-id.
func afterFlag(cmd *cobra.Command, after *[]string) {
	cmd.Flags().StringArrayVar(after, "after-id", nil, "no new ID is below this `ID`, or below the highest one of a "+
		"column of another generator: SCHEMA.TABLE.COLUMN. Repeat it for each")
	source.Describe(cmd.Flags(), config.Row{Name: "after-id", CommandLineOnly: "speaks of one database"})
}

func (f *otherRegion) isGiven() bool { return f.region != "" || f.space != "" || len(f.after) > 0 }

// into checks what can be checked without a database, and takes it into settings.
func (f *otherRegion) into(s *migrations.Settings) (err error) {
	for _, one := range f.after {
		s.After(one)
	}
	if err := takeSpace(s, f.space); err != nil {
		return err
	}
	s.Region, err = config.Number("region", f.region, "none")
	return err
}

// takeSpace takes a fingerprint into settings, if there is one.
func takeSpace(s *migrations.Settings, fingerprint string) error {
	if fingerprint == "" {
		return nil
	}
	space, err := namespace.ParseFingerprint(fingerprint)
	if err != nil {
		return fmt.Errorf("--namespace: %w", err)
	}
	s.Space = &space
	return nil
}

// layouts are examples of --layout for a shell.
var layouts = []string{"twitter", "datacenter", "javascript", "41/0/10/12"}

// settings checks what can be checked without a database.
func (f *layoutFlags) settings() (migrations.Settings, error) {
	s := migrations.Settings{
		Layout: f.layout, Unit: f.unit, DatabaseWorkers: f.databaseWorkers, Disposable: f.disposable,
	}
	if f.epoch != "" {
		epoch, err := time.Parse(time.RFC3339Nano, f.epoch)
		if err != nil {
			return s, fault.WithKind(fault.Usage,
				fmt.Errorf("--epoch %s is not an instant like 2024-01-01T00:00:00Z", connect.Shown(f.epoch)))
		}
		s.Epoch = epoch
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
