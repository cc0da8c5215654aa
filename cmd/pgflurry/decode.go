package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/generator"
	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

// decodePatience limits the time to connect to the database and read one row.
const decodePatience = 10 * time.Second

// decodeFlags say how to read the IDs: by layout flags, or by the namespace row of a database.
type decodeFlags struct {
	layoutFlags
	database string
	asJSON   bool
}

// newDecode is the command that takes IDs apart.
func newDecode() *cobra.Command {
	var f decodeFlags
	cmd := &cobra.Command{
		Use:   "decode ID…",
		Short: "Show the time, datacenter, worker and sequence of IDs",
		Long: `decode takes IDs apart. "-" reads them from standard input, separated by spaces or lines.

An ID is a decimal number, or 13 characters of base32 as snowflake_base32() writes them, or 14 with
its check symbol. 13 or 14 digits can be either. If both are an ID of the layout, decode refuses them.
A plus sign in front makes them a decimal number (+1234567890123). A hyphen within makes them base32
(12345-67890123).

What the bits mean comes from the namespace of a database (--database), or from --layout, --epoch and
--unit. If one of these flags is missing, decode takes its default, and standard error says so. decode
cannot see that an ID has another layout: it then prints wrong figures.

A small number has no TIME. It is not an ID, but probably a key from the time before its table was
moved from a sequence to IDs. Standard error says so. Numbers of the first day after the epoch are
such keys.

WORKER is the number in the datacenter and worker bits together, as in "pgflurry workers list".
DATACENTER is its upper bits, or "-" in a layout without them. TIME is the start of the ID's tick.

Standard error names each argument that is no ID. decode decodes the others, and its exit code is 1.

--json prints an array with an object for each ID: id (a string), time, datacenter, worker, sequence,
base32.
` + jsonRules,
		Example: `  pgflurry decode 330678927360028672 095PEQE000W00
  pgflurry decode 330678927360028672 --layout datacenter --epoch 2020-01-01T00:00:00Z
  psql -At -c 'SELECT id FROM orders' |
    pgflurry decode - --database postgres://app@localhost/shop --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New(`no ID was given; give one or more, or "-" to read them from standard input`)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			layout, err := f.read(cmd.Context())
			if err != nil {
				return err
			}
			if f.database == "" && (f.layout == "" || f.epoch == "" || f.unit == 0) {
				fmt.Fprintf(cmd.ErrOrStderr(), "assuming layout %s, epoch %s, unit %s; "+
					"--database URL takes those of a namespace\n", layout, timestamp(layout.Epoch), layout.Unit)
			}
			return decode(cmd, layout, args, f.asJSON)
		},
	}
	cmd.SetFlagErrorFunc(negativeID)
	flags := cmd.Flags()
	flags.StringVar(&f.layout, "layout", "",
		"`BITS` of timestamp/datacenter/worker/sequence, or twitter, datacenter, javascript (default 41/0/10/12)")
	flags.StringVar(&f.epoch, "epoch", "", "instant of the first tick, `RFC3339` (default 2024-01-01T00:00:00Z)")
	flags.DurationVar(&f.unit, "unit", 0, "length of a tick, 1ms to 1s (default 1ms)")
	flags.StringVar(&f.database, "database", "",
		"`URL` of a database of the namespace, whose layout is used: "+connect.Form)
	source.Describe(flags, config.Row{Name: "layout", Enum: layouts})
	source.Describe(flags, config.Row{Name: "database", Secret: true})
	flags.BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// negativeID explains -5, which pflag takes for an unknown flag.
func negativeID(cmd *cobra.Command, err error) error {
	if missing := new(pflag.NotExistError); errors.As(err, &missing) {
		if _, no := strconv.ParseInt(missing.GetSpecifiedName(), 10, 64); no == nil {
			err = fmt.Errorf("-%s is not an ID: no ID is negative", missing.GetSpecifiedShortnames())
		}
	}
	return flagError(cmd, err)
}

// read returns the layout, from the database or from the flags.
func (f *decodeFlags) read(ctx context.Context) (generator.Layout, error) {
	given := f.layout != "" || f.epoch != "" || f.unit != 0
	if f.database == "" {
		layout, err := f.fromFlags()
		return layout, fault.WithKind(fault.Usage, err)
	}
	if given {
		return generator.Layout{}, fault.WithKind(fault.Usage, errors.New("--database was given together with "+
			"--layout, --epoch or --unit (or their PGFLURRY_ variables); the database knows its layout, "+
			"so give one or the other"))
	}
	config, err := connect.Parse("database", f.database)
	if err != nil {
		return generator.Layout{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, decodePatience)
	defer cancel()
	conn, err := connect.Open(ctx, config)
	if err != nil {
		return generator.Layout{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	ns, err := namespace.Read(ctx, conn)
	return ns.Layout, err
}

func (f *decodeFlags) fromFlags() (generator.Layout, error) {
	settings, err := f.settings()
	if err != nil {
		return generator.Layout{}, err
	}
	layout := generator.DefaultLayout()
	if settings.Layout != "" {
		if layout, err = generator.ParseLayout(settings.Layout); err != nil {
			return generator.Layout{}, err
		}
	}
	if !settings.Epoch.IsZero() {
		layout.Epoch = settings.Epoch
	}
	if settings.Unit != 0 {
		layout.Unit = settings.Unit
	}
	return layout, layout.Validate()
}

// decode prints the IDs that it can decode, and names the others on standard error.
func decode(cmd *cobra.Command, layout generator.Layout, args []string, asJSON bool) error {
	list := newTable("id", "time", "datacenter", "worker", "sequence", "base32")
	seen, failed := 0, 0
	say := func(sentence string) {
		fmt.Fprintln(cmd.ErrOrStderr(), "pgflurry: "+connect.Masked(sentence))
	}
	one := func(text string) {
		seen++
		parts, err := addDecoded(list, layout, text)
		switch {
		case err != nil:
			failed++
			say(err.Error())
		case parts.Time.IsZero():
			say(fmt.Sprintf("%s is below the first ID of layout %s, epoch %s: "+
				"a key of a sequence, it seems, which says no time", text, layout, timestamp(layout.Epoch)))
		}
	}
	for _, arg := range args {
		if arg != "-" {
			one(arg)
			continue
		}
		reads := func() (string, error) { return "", words(cmd.InOrStdin(), one) }
		if _, err := awaited(cmd.Context(), reads); err != nil {
			return fmt.Errorf("reading IDs from standard input: %w", err)
		}
	}
	if len(list.rows) > 0 || failed == 0 || asJSON { // no header above an empty table
		if err := list.print(cmd.OutOrStdout(), asJSON); err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d could not be decoded", failed, seen)
	}
	return nil
}

func addDecoded(list *table, layout generator.Layout, text string) (generator.Parts, error) {
	id, err := layout.ParseID(text)
	if err != nil {
		return generator.Parts{}, err
	}
	parts, err := layout.Decode(id)
	if err != nil {
		return generator.Parts{}, err
	}
	base32, err := generator.Base32(id)
	if err != nil {
		return generator.Parts{}, err
	}
	var at, datacenter any
	if !parts.Time.IsZero() {
		at = parts.Time
	}
	if layout.DatacenterBits > 0 {
		datacenter = parts.Datacenter
	}
	list.add(strconv.FormatInt(id, 10), at, datacenter, parts.Worker, parts.Sequence, base32)
	return parts, nil
}

// words calls f with each word of r.
func words(r io.Reader, f func(string)) error {
	scanner := bufio.NewScanner(r)
	scanner.Split(bufio.ScanWords)
	for scanner.Scan() {
		f(scanner.Text())
	}
	return scanner.Err()
}
