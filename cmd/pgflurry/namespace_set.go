package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/namespace/decide"
	"pgflurry/migrations"
	"pgflurry/sqlfuncs"
)

func newNamespaceSet() *cobra.Command {
	var url, home, restart string
	s := migrations.Settings{Existing: true}
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Change a setting of an ID space that is in use",
		Long: `set changes what can change while IDs are drawn. docs/copies.md says more of each setting.

--max-window 1h lets proxies run with --window 1h, so that PostgreSQL may be away for an hour. It costs
workers: that of a proxy that crashed rests for up to two hours, and that of one that has ended for one.
After a failover, a restore or a reseed no proxy gets a worker for one hour.

--restart-quarantine 0s is for a server whose start never loses a committed write: it has no standby,
and nobody sets its files back. As it comes, no proxy gets a worker for 64 s after a start.

--new-server refuse keeps proxies from a worker on a server that is not known, since that may be a copy
beside its original. After each start the function gives no ID until a proxy, or a command, has
recognised the server by its address.

--joins-complete confirms that every database that ever joined has joined again, or stands in the list
of "pgflurry migrate status". --fresh-worker is for a function that fails with SNF01 because its clock
once stood far ahead. Its old worker is retired.`,
		Example: `  pgflurry namespace set --database postgres://app@localhost/shop --max-window 1h`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !slices.ContainsFunc(knobs, cmd.Flags().Changed):
				return usageError(cmd, errors.New("nothing is to be set"))
			case cmd.Flags().Changed("max-window") && s.MaxWindow == 0:
				return usageError(cmd, errors.New("--max-window is 0s; expected 1s to 24h"))
			case home != "" && slices.ContainsFunc(knobs[:len(knobs)-1], cmd.Flags().Changed),
				home != "" && !s.FreshWorker:
				return usageError(cmd, errors.New("--home goes with --fresh-worker; the home has the other settings"))
			}
			if err := takeHome(&s, home); err != nil {
				return err
			}
			if restart != "" {
				length, err := restartQuarantine(restart)
				if err != nil {
					return err
				}
				s.RestartQuarantine = &length
			}
			return bring(cmd, url, s, func(state migrations.State) []string { return whatIsSet(s, state) })
		},
	}
	databaseFlag(cmd, &url)
	homeFlag(cmd, &home, "`URL` of the home, for --fresh-worker of a database that has joined")
	flags := cmd.Flags()
	maxWindowFlag(cmd, &s)
	flags.StringVar(&restart, "restart-quarantine", "", "`DURATION` for which no worker is granted after a start of "+
		"PostgreSQL; or default, which is max_window + 2 × skew")
	flags.StringVar(&s.NewServer, "new-server", "", "`CHOICE` for a server that is not known: warn or refuse")
	flags.StringVar(&s.Functions, "functions", "", "`WHICH` functions get a name in schema public: snowflake, that is "+
		"next_snowflake() and its kin, or all")
	flags.BoolVar(&s.JoinsComplete, "joins-complete", false, "no database has joined but those that are listed")
	flags.BoolVar(&s.FreshWorker, "fresh-worker", false, "give the function another worker")
	source.Describe(flags, config.Row{Name: "functions", Enum: []string{sqlfuncs.Snowflake, sqlfuncs.All}})
	source.Describe(flags, config.Row{Name: "restart-quarantine", Enum: []string{"0s", "default"}}) // beside durations
	source.Describe(flags, config.Row{Name: "new-server", Enum: []string{decide.Warn, decide.Refuse}})
	asksConsent(cmd, append(knobs, "home")...)
	return cmd
}

func maxWindowFlag(cmd *cobra.Command, s *migrations.Settings) {
	cmd.Flags().DurationVar(&s.MaxWindow, "max-window", 0,
		"how long proxies may go on without PostgreSQL, at most: 1s to 24h")
}

// knobs are the settings, by their flags.
var knobs = []string{"max-window", "restart-quarantine", "new-server", "functions", "joins-complete", "fresh-worker"}

// restartQuarantine parses --restart-quarantine.
func restartQuarantine(text string) (time.Duration, error) {
	if text == "default" {
		return decide.RestartAsWindows, nil
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < 0 {
		return 0, fault.WithKind(fault.Usage, fmt.Errorf("--restart-quarantine is %s; expected a duration such as "+
			"0s or 2m, or default", connect.Shown(text)))
	}
	return length, nil
}

// whatIsSet says what is true now, where the rows of the state do not.
func whatIsSet(s migrations.Settings, state migrations.State) (said []string) {
	if s.FreshWorker {
		said = append(said, fmt.Sprintf("the function has worker %d now, and its old one is retired",
			state.Namespace.FunctionWorker))
	}
	if s.JoinsComplete {
		said = append(said, fmt.Sprintf("other databases can join again; known so far: %d", len(state.Joined)))
		for _, j := range state.Joined {
			said = append(said, fmt.Sprintf("  %s, with worker %d", j.Address, j.Worker))
		}
	}
	if s.MaxWindow != 0 {
		said = append(said, windowsDone(state.Namespace, state.GateOpens))
	}
	return said
}

// windowsDone says what the windows of a namespace cost.
func windowsDone(n *namespace.Namespace, gate time.Duration) string {
	said := fmt.Sprintf("proxies may reserve %v ahead; one with a longer --window does not start again\n"+
		"a worker whose proxy crashed rests for up to %v", n.MaxWindow, n.MaxWindow+n.Skew+n.Quarantine)
	if n.Quarantine > decide.QuarantineFor(n.MaxWindow, n.Skew, n.Layout.Unit) {
		said += fmt.Sprintf("\nthe quarantine stays %v, because longer grants may be in use: "+
			"run the same again after %v", n.Quarantine, n.Quarantine)
	}
	if gate > 0 {
		said += fmt.Sprintf("\nno worker is granted for another %v, until grants that a failover or a restore "+
			"may have forgotten have ended", wholeSeconds(gate))
	}
	return said
}
