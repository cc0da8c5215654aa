package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/migrations"
)

// upFlags are the flags of up: for a new namespace, and for what the database is to become.
type upFlags struct {
	layout                     layoutFlags
	join                       string
	newNamespace, moved, copy  bool
	freshWorker, joinsComplete bool
	noOtherDraws               bool
	maxWindow                  time.Duration
	restart, newServer         string
	afterID                    int64
	afterIDGiven               bool
	afterTables                []string
}

func (f *upFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.layout.register(flags, ", or that of the existing namespace")
	f.layout.registerFunctions(flags, ", or as it was")
	flags.StringVar(&f.join, "join", "", "let this database join the ID space at home in the database "+
		"at `URL`; run again, it compares the claim")
	flags.BoolVar(&f.newNamespace, "new-namespace", false, "make this copy of a database an ID space of its own")
	flags.Int64Var(&f.afterID, "after-id", 0, "the highest `ID` that this database holds, or that the generator of a "+
		"foreign worker gave. No new ID is below it. With --new-namespace it is read where needed, from columns whose "+
		"default is next_snowflake()")
	flags.StringArrayVar(&f.afterTables, "after-table", nil, "a `SCHEMA.TABLE.COLUMN`, such as app.orders.id, "+
		"whose highest ID is read, as if --after-id said it. Repeat it for each column with IDs of another generator")
	flags.BoolVar(&f.moved, "moved", false,
		"this copy replaces its original, which is gone for good (pg_upgrade, restore to a new server), "+
			"or the database was restored in place. One that has joined needs --join as well. In an empty "+
			"database, with --region and --namespace: the database of that region was lost for good")
	flags.BoolVar(&f.copy, "copy", false,
		"this is a copy although it looks original, and the original lives on; "+
			"with --join, --new-namespace or --region")
	flags.BoolVar(&f.freshWorker, "fresh-worker", false, "give the function another worker, "+
		"because its own is reserved until a time that is out of reach. One that has joined needs --join as well")
	flags.BoolVar(&f.joinsComplete, "joins-complete", false,
		"no database has joined this home but those that \"migrate status\" lists")
	flags.DurationVar(&f.maxWindow, "max-window", 0, "how long proxies may go on without PostgreSQL, at most: "+
		"1s to 24h. It changes the quarantine, too (default 1m0s, or that of the existing namespace)")
	flags.StringVar(&f.restart, "restart-quarantine", "", "`DURATION` for which no worker is granted after a start "+
		"of PostgreSQL, or default. 0s says that this server never forgets a write (default max_window + 2 × skew, "+
		"or that of the existing namespace)")
	flags.BoolVar(&f.noOtherDraws, "no-other-draws", false, "with --moved: no other database draws these IDs. The "+
		"original is closed or destroyed for good, and no other copy has taken its place")
	source.Describe(flags, config.Row{Name: "join", Secret: true})
	flags.StringVar(&f.newServer, "new-server", "", "`CHOICE` for a server that is not known, and may be a copy that "+
		"nobody has declared: warn or refuse. With refuse no proxy gets a worker there, and the function gives no ID "+
		"(default warn, or as it was)")
	source.Describe(flags, config.Row{Name: "restart-quarantine", Enum: []string{"0s", "default"}}) // beside durations
	source.Describe(flags, config.Row{Name: "new-server", Enum: []string{migrations.Warn, migrations.Refuse}})
	asksConsent(cmd, "namespace", "join", "new-namespace", "after-id", "after-table", "moved", "no-other-draws",
		"copy", "fresh-worker", "joins-complete", "restart-quarantine", "new-server")
}

// settings checks what can be checked without a database.
func (f *upFlags) settings() (migrations.Settings, error) {
	if f.join != "" {
		if _, err := connect.Parse("join", f.join); err != nil {
			return migrations.Settings{}, err
		}
	}
	s, err := f.layout.settings()
	s.JoinURL = f.join
	s.NewNamespace = f.newNamespace
	s.Moved = f.moved
	s.Copy = f.copy
	s.NoOtherDraws = f.noOtherDraws
	if f.afterIDGiven {
		s.AfterID = &f.afterID
	}
	s.AfterTables = f.afterTables
	s.FreshWorker = f.freshWorker
	s.JoinsComplete = f.joinsComplete
	s.MaxWindow = f.maxWindow
	s.NewServer = f.newServer
	if err != nil || f.restart == "" {
		return s, err
	}
	s.RestartQuarantine, err = restartQuarantine(f.restart)
	return s, err
}

// restartQuarantine parses --restart-quarantine.
func restartQuarantine(text string) (*time.Duration, error) {
	length := migrations.RestartAsWindows
	if text != "default" {
		var err error
		if length, err = time.ParseDuration(text); err != nil || length < 0 {
			return nil, fault.WithKind(fault.Usage,
				fmt.Errorf("--restart-quarantine is %s; expected a duration such as 0s or 2m, or default",
					connect.Shown(text)))
		}
	}
	return &length, nil
}

func newMigrateUp() *cobra.Command {
	var url string
	var flags upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Make or complete what pgflurry needs; safe to run again, also several at once",
		Long: `up creates schema pgflurry, the namespace row, all worker rows and the SQL functions. Run again it
goes on where it stopped, and repairs functions. A layout cannot change once its namespace exists.

up refuses a copy of a database (restored, cloned, made from a template) until you say what it shall be:
  --join HOME       another database of the ID space at home in HOME, with a worker of its own
  --new-namespace   an ID space of its own
  --moved           the same database as before: its original is gone for good, and no other copy
                    has taken its place; or it was restored in place
  --region NUMBER --namespace FINGERPRINT
                    another region of the same ID space, of a copy of a region

--new-namespace begins above every ID that the copy can hold. If the copy had joined, or others had, it
reads the columns whose default is next_snowflake(). If IDs are in other columns, and a clock of the
old space once stood ahead, say the highest one: --after-id ID. No proxy gets a worker before its time.

--moved asks for --no-other-draws wherever it cannot see what else draws the same IDs: in a copy on
another server, and where something was closed. With it you say that the original is closed or destroyed
for good, and that no other copy has taken its place. So you also take "pgflurry close" back.

A copy of a server's files (base backup, snapshot, clone of a machine) looks like its original. Say
--copy as well:
  --copy --join HOME, or --copy --new-namespace, or --copy --region NUMBER --namespace FINGERPRINT

--functions all gives the functions of schema pgflurry short names in public as well: incr(key) is then
the same as pgflurry.incr(key). The database remembers the choice: without the flag it stays as it is.
--functions snowflake drops those short names again. It refuses while a default or a view uses one. It
cannot see calls in programs, nor in functions whose body is a text: look for them yourself.

Regions are databases of one ID space that never talk. Each has the workers of one datacenter number.
The first one makes the ID space: --layout datacenter --region 0. "pgflurry namespace show" prints its
fingerprint there. With that you make another region: --region 1 --namespace FINGERPRINT. You alone can
see to it that no two regions have one number. "pgflurry namespace check URL URL…" compares them.

If a home was failed over, restarted, restored or reseeded, no other database can join until you say
--joins-complete. With it you confirm that every database that ever joined has joined again, or stands
in the list of "pgflurry migrate status".

--foreign-workers 0-31,991 is for a database in which another generator gives IDs of the same layout,
such as a Snowflake library in the application. No proxy and no function gets one of these workers. Give
the list with the first up: it is fixed with the ID space, as --database-workers is.

In a new ID space, --after-id ID refuses a layout, an epoch or a clock by which the first ID would be
lower. Instead of the ID you can name the columns that have it: --after-table app.orders.id. up reads
the highest ID of each, as its own role. It sees no rows that were deleted or are not committed, and no
tables of other databases.

--fresh-worker is for a function that fails with SNF01 because its clock once stood far ahead. Its old
worker is retired.

--max-window 1h lets proxies run with --window 1h: they go on for an hour while PostgreSQL is away. It
costs workers:
  - the worker of a proxy that crashed rests for up to two hours: the window and the quarantine
  - the worker of one that ended in good order rests for up to one hour
  - after a failover, a restore or a reseed no proxy gets a new worker for one hour

So the namespace needs a worker for each proxy, for each restart within an hour, and for each crash
within two. up raises the quarantine first, and the window once every standby has that quarantine. A
shorter window holds at once. Its quarantine follows when you run the same command again after the last
long grant has ended.

A server that has just started may be an old copy of itself, and may have forgotten workers that it
granted. So no proxy gets a worker for the first 64 s: max_window and twice the skew. The function in
the database gives the IDs meanwhile, and an ID database waits. --restart-quarantine 0s ends that wait.
Say it only if no start of this server ever loses a committed write: it has no standby, and nobody sets
its files back. --restart-quarantine default ends that.

The row remembers its server: the addresses by which proxies and commands reach it, its own address,
port, data directory, cluster_name and start. A server that was started since, and that is reached at
another address, is not known: it may be a copy beside its original. "serve", "migrate status", a metric
and an alert say so, until you say --copy or --moved. If a member of a cluster takes over, it is known
if --lease-database names all members, or one name that follows the primary.
--new-server refuse also keeps proxies from a worker there. And after each start of the server the
function gives no ID until a proxy, or up, has recognised the server by its address.

A role that is to run "pgflurry serve" without owning the schema needs, in each database:
  CALL pgflurry.grant_lease('role');`,
		Example: `  pgflurry migrate up --database postgres://app@localhost/shop
  pgflurry migrate up --database postgres://app@localhost/shop --layout datacenter \
    --epoch 2025-01-01T00:00:00Z
  pgflurry migrate up --database postgres://app@localhost/billing \
    --join postgres://app@localhost/shop
  pgflurry migrate up --database postgres://app@tokyo/shop --region 1 --namespace FINGERPRINT`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := connect.Parse("database", url); err != nil {
				return err
			}
			flags.afterIDGiven = cmd.Flags().Changed("after-id")
			settings, err := flags.settings()
			if err != nil {
				return err
			}
			settings.Say = func(sentence string) { _, _ = fmt.Fprintln(cmd.OutOrStdout(), sentence) }
			state, err := migrations.UpState(cmd.Context(), url, settings)
			if err != nil {
				return connect.Explain(err)
			}
			if err := flags.printDone(cmd.OutOrStdout(), state); err != nil {
				return err
			}
			if err := printState(cmd.OutOrStdout(), state); err != nil {
				return err
			}
			return inPlace(state)
		},
	}
	databaseFlag(cmd, &url)
	flags.register(cmd)
	return cmd
}
