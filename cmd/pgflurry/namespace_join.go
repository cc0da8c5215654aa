package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/namespace"
	"pgflurry/migrations"
)

func newNamespaceJoin() *cobra.Command {
	var url, home string
	var other otherRegion
	var s migrations.Settings
	cmd := &cobra.Command{
		Use:   "join",
		Short: "Share the ID space of another database, with a worker of its own",
		Long: `join makes an empty database, or a copy of one, another database of an ID space that exists. Its
function gets a worker that no other database has. Run again, it compares that claim with the home.

--home URL is the home of the ID space, its first database. It has the workers of all proxies.

--region NUMBER --namespace FINGERPRINT makes another region of an ID space of regions. Regions never
talk: each has the workers of one datacenter number. Take one that no database ever had: that of a region
that was lost or removed goes to "pgflurry namespace move". You alone can see to it that no two have one.
"pgflurry namespace show" prints the fingerprint, and "pgflurry namespace check" compares.

A copy of the files of a server (base backup, snapshot, clone of a machine) looks like its original. Say
--copy on the copy, and on no other.`,
		Example: `  pgflurry namespace join --database postgres://app@localhost/billing \
    --home postgres://app@localhost/shop
  pgflurry namespace join --database postgres://app@tokyo/shop --region 1 --namespace FINGERPRINT`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case home != "" && other.isGiven():
				return usageError(cmd, errors.New("--home and --region exclude each other; give one of them"))
			case other.region != "" && other.space == "":
				return usageError(cmd, errors.New("--region needs --namespace FINGERPRINT, "+
					"which \"pgflurry namespace show\" prints in another region"))
			case home == "" && other.space == "":
				return usageError(cmd, errors.New("nothing says which ID space to join; give --home URL, or --region "+
					"NUMBER and --namespace FINGERPRINT"))
			}
			if err := takeHome(&s, home); err != nil {
				return err
			}
			if err := other.into(&s); err != nil {
				return err
			}
			return bring(cmd, url, s, func(state migrations.State) []string {
				return []string{belongsTo(state.Namespace)}
			})
		},
	}
	databaseFlag(cmd, &url)
	homeFlag(cmd, &home, "`URL` of the home of the ID space")
	other.register(cmd, "the database becomes")
	flags := cmd.Flags()
	flags.BoolVar(&s.Copy, "copy", false, "this is a copy although it looks original, and the original lives on")
	flags.BoolVar(&s.JoinsComplete, "joins-complete", false, "every other database that ever joined has joined again, "+
		"and the home still does not know this one: give it another worker")
	asksConsent(cmd, "home", "region", "namespace", "copy", "joins-complete")
	return cmd
}

// belongsTo says which worker a database has in whose ID space.
func belongsTo(n *namespace.Namespace) string {
	if n.Home == "" {
		return fmt.Sprintf("this database is region %d of the ID space %s", *n.Region, n.ID)
	}
	return fmt.Sprintf("this database belongs to the ID space at home in %s, and its function has worker %d there",
		n.Home, n.FunctionWorker)
}

// takeHome takes the URL of another database into settings, if it is one.
func takeHome(s *migrations.Settings, home string) error {
	if home == "" {
		return nil
	}
	_, err := connect.Parse("home", home)
	s.JoinURL = home
	return err
}
