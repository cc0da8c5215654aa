package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pgflurry/migrations"
)

func newNamespaceMove() *cobra.Command {
	var url, home string
	var other otherRegion
	s := migrations.Settings{Moved: true}
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Take the place of the original, which gives no IDs any more",
		Long: `move lets a copy go on as its original did: after a dump and restore on another server, pg_upgrade, or
blue/green. It is also for a database that was restored in place, and for a closed one that takes its
own place again. Move one copy only.

The original must be gone for good, or closed: "pgflurry namespace close". move looks for other
databases of this server that draw the same IDs. Where it cannot see what else does, it asks for
--no-other-draws: in a copy on another server, and where something was closed.

No proxy gets a worker for the length of the quarantine, 120 s as it comes. The function draws at once.

If proxies may have had a longer window than the copy knows, give it: --max-window. That is so if it was
raised after the backup, and with --region and --namespace. These two are for an empty database, if the
database of that region was lost for good.`,
		Example: `  pgflurry namespace move --database postgres://app@new/shop --no-other-draws`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if home != "" && (s.MaxWindow != 0 || other.isGiven()) {
				return usageError(cmd, errors.New("--max-window, --region and --after-id are for a home, and --home "+
					"names that of a database that has joined; leave one of the two out"))
			}
			if err := takeHome(&s, home); err != nil {
				return err
			}
			if err := other.into(&s); err != nil {
				return err
			}
			return bring(cmd, url, s, func(state migrations.State) []string { return []string{movedTo(state)} })
		},
	}
	databaseFlag(cmd, &url)
	homeFlag(cmd, &home, "`URL` of the home, for a database that has joined")
	other.register(cmd, "was lost")
	cmd.Flags().BoolVar(&s.NoOtherDraws, "no-other-draws", false, "no other database draws these IDs: the original is "+
		"closed or destroyed for good, and no other copy has taken its place")
	maxWindowFlag(cmd, &s)
	asksConsent(cmd, "home", "region", "namespace", "no-other-draws", "max-window")
	return cmd
}

func movedTo(state migrations.State) string {
	said := "this database is the original of its namespace now"
	if state.GateOpens > 0 {
		said += fmt.Sprintf("; no worker is granted for another %v, until old grants have ended\n"+
			"(of proxies with a --window of %v at most; if it was raised since the backup, run it again with "+
			"--max-window)",
			wholeSeconds(state.GateOpens), state.Namespace.MaxWindow)
	}
	return said
}
