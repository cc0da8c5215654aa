package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/namespace"
)

func newNamespaceShow() *cobra.Command {
	var url string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the ID space of a database, its fingerprint, and which workers the database has",
		Long: `show prints which ID space a database belongs to, and which workers the database has.

FINGERPRINT says in one text what all regions of the ID space have in common: id, layout, epoch and
unit. It also says whether there are regions at all. With it you make another region:
"pgflurry namespace join --region NUMBER --namespace FINGERPRINT".

--json prints one object:
  fingerprint, id, layout, epoch, unit_seconds, region
  workers, function_workers, proxy_workers              each: from, to; the lowest and the highest
  foreign_workers                                       an array; each: from, to
  function_worker
  home                                                  null: this database
  database, address, standby, disposable
  copied                                                why
` + jsonRules,
		Example: `  pgflurry namespace show --database postgres://app@localhost/shop
  pgflurry namespace show --database postgres://app@localhost/shop --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := connect.Parse("database", url)
			if err != nil {
				return err
			}
			seen, conn, err := look(cmd.Context(), config)
			if err != nil {
				return err
			}
			defer conn.Close(cmd.Context())
			if why, copied := seen.Copied(); copied && !asJSON {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\nhint: What follows is true of its original. "+
					"\"pgflurry migrate up\" prints what fits the copy.\n", why)
			}
			if asJSON {
				return printObject(cmd.OutOrStdout(), seenForJSON(seen))
			}
			return printSeen(cmd.OutOrStdout(), seen)
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// printSeen prints for people. The fingerprint has a line of its own, so that it is easy to copy.
func printSeen(w io.Writer, s namespace.Seen) error {
	if err := seenTable(s).print(w, false); err != nil {
		return err
	}
	purpose := "for another region (namespace join --region NUMBER --namespace FINGERPRINT)"
	if s.Region == nil {
		purpose = "of an ID space without regions (another database joins it by namespace join --home URL)"
	}
	_, err := fmt.Fprintf(w, "fingerprint, %s:\n%s\n", purpose, s.Fingerprint())
	return err
}

// seenTable lists what is known of a database: one fact a row.
func seenTable(s namespace.Seen) *table {
	t := newTable("what", "value", "detail")
	t.add("namespace", s.ID, "")
	t.add("layout", s.Layout.String(), fmt.Sprintf("epoch %s, unit %s", timestamp(s.Layout.Epoch), s.Layout.Unit))
	all := fmt.Sprintf("of 0 to %d", s.Layout.Workers()-1)
	if s.Region != nil {
		t.add("region", fmt.Sprint(*s.Region), fmt.Sprintf("of 0 to %d", 1<<s.Layout.DatacenterBits-1))
	} else {
		t.add("region", "", "")
	}
	t.add("workers", s.Workers().String(), all)
	t.add("of functions", s.Functions.String(), fmt.Sprintf("worker %d of this database's", s.FunctionWorker))
	t.add("of proxies", s.Proxies().String(), "")
	if len(s.Foreign) > 0 {
		t.add("foreign", s.Foreign.String(), "a generator of another kind gives IDs with them")
	}
	home, detail := s.Home, "workers are leased there"
	if s.Home == "" {
		home, detail = "this database", "workers are leased here"
	}
	t.add("home", home, detail)
	t.add("database", s.Address, standing(s))
	return t
}

// standing names what is unusual about a database.
func standing(s namespace.Seen) string {
	switch _, copied := s.Copied(); {
	case copied:
		return "a copy, which gives no IDs"
	case s.Closed:
		return "closed for good, and gives no IDs"
	case s.Disposable:
		return "for tests only: its copies give the same IDs"
	case s.Standby:
		return "a standby, which gives no IDs"
	}
	return ""
}

// seenJSON is the output of "namespace show --json". Programs rely on it: fields may be added, but none may change its
// meaning.
type seenJSON struct {
	Fingerprint    string           `json:"fingerprint"`
	ID             string           `json:"id"`
	Layout         string           `json:"layout"`
	Epoch          string           `json:"epoch"`
	Unit           float64          `json:"unit_seconds"`
	Region         *int             `json:"region"`
	Workers        namespace.Range  `json:"workers"`
	Functions      namespace.Range  `json:"function_workers"`
	Proxies        namespace.Range  `json:"proxy_workers"`
	Foreign        namespace.Ranges `json:"foreign_workers"`
	FunctionWorker int              `json:"function_worker"`
	Home           *string          `json:"home"`
	Database       string           `json:"database"`
	Address        string           `json:"address"`
	Standby        bool             `json:"standby"`
	Disposable     bool             `json:"disposable"`
	Copied         *string          `json:"copied"`
}

func seenForJSON(s namespace.Seen) seenJSON {
	why, _ := s.Copied()
	return seenJSON{
		Fingerprint: s.Fingerprint().String(), ID: s.ID, Layout: s.Layout.String(), Epoch: timestamp(s.Layout.Epoch),
		Unit: s.Layout.Unit.Seconds(), Region: s.Region, Workers: s.Workers(),
		Functions: s.Functions.Hull(), Proxies: s.Proxies().Hull(), Foreign: array(s.Foreign),
		FunctionWorker: s.FunctionWorker,
		Home:           known(s.Home), Database: s.Database, Address: s.Address, Standby: s.Standby,
		Disposable: s.Disposable, Copied: known(why),
	}
}
