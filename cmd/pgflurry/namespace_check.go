package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

func newNamespaceCheck() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check URL [URL…]",
		Short: "Say whether databases may be parts of one ID space, and which workers would collide",
		Long: `check compares databases: the regions of an ID space, and the databases that have joined one of them.
Regions never talk, so nothing else notices two regions with one number. Run it whenever a region was
made or restored, with the URLs of all of them, from a place that reaches all of them.

Exit codes:
  0  they may give IDs side by side
  3  two of them may give the same ID: check names the pair, the workers that both have, and why;
     or they are two ID spaces, or one of them is a copy
  4  one of them cannot be reached

Two URLs of one database, or of a database and its replica, are no collision.

--json prints one object:
  may_coexist
  databases    each as "namespace show --json" prints it
  collisions   each: databases (the places of the two in that list, from 0), workers (from, to; or
               null), why, hint
  notes
` + jsonRules,
		Example: `  pgflurry namespace check postgres://app@frankfurt/shop postgres://app@tokyo/shop`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no database was given; give the URL of each one to compare")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, urls []string) error {
			list, err := lookAtAll(cmd, urls)
			if err != nil {
				return err
			}
			found := namespace.Compare(list)
			if asJSON {
				err = printComparisonJSON(cmd.OutOrStdout(), list, found)
			} else {
				err = printComparison(cmd.OutOrStdout(), list, found)
			}
			if err != nil || len(found.Collisions) == 0 {
				return err
			}
			return fault.WithKind(fault.NotInPlace, fault.WithHint(errors.New(
				"these databases may not give IDs side by side in one ID space: see the collisions above"),
				found.Collisions[0].Hint))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// lookAtAll keeps each connection open until it has seen all databases. Otherwise a failover meanwhile could make it
// see one server twice.
func lookAtAll(cmd *cobra.Command, urls []string) ([]namespace.Seen, error) {
	configs := make([]*pgx.ConnConfig, len(urls))
	for i, url := range urls {
		var err error
		if configs[i], err = connect.ParseArgument(fmt.Sprintf("URL %d", i+1), url); err != nil {
			return nil, err
		}
	}
	shown := showProgress(cmd)
	defer shown.end()
	list := make([]namespace.Seen, len(urls))
	for i, config := range configs {
		shown.step(fmt.Sprintf("looking at URL %d", i+1))
		seen, conn, err := look(cmd.Context(), config)
		if err != nil {
			return nil, fmt.Errorf("URL %d: %w", i+1, err)
		}
		defer conn.Close(cmd.Context())
		list[i] = seen
	}
	return list, nil
}

// printComparison prints what was seen, and then the collisions, for people.
func printComparison(w io.Writer, list []namespace.Seen, found namespace.Comparison) error {
	t := newTable("url", "database", "namespace", "region", "workers", "home", "detail")
	for i, s := range list {
		var region any
		if s.Region != nil {
			region = *s.Region
		}
		home, workers := "itself", s.Workers().String()
		if s.Home != "" {
			home, workers = s.Home, fmt.Sprint(s.FunctionWorker)
		}
		t.add(i+1, s.Address, s.ID, region, workers, home, standing(s))
	}
	if err := t.print(w, false); err != nil {
		return err
	}
	for _, note := range found.Notes {
		fmt.Fprintf(w, "note: %s\n", note)
	}
	for _, c := range found.Collisions {
		fmt.Fprintf(w, "collision: %s: %s\n", parties(list, c), c.Why)
	}
	var err error
	switch {
	case len(found.Collisions) > 0:
	case len(list) == 1:
		_, err = fmt.Fprintln(w, "nothing is wrong with this database; give the URLs of the others to compare it with")
	default:
		_, err = fmt.Fprintln(w, "these databases may give IDs side by side: no worker is of two of them")
	}
	return err
}

// parties names the databases that collide, and their workers.
func parties(list []namespace.Seen, c namespace.Collision) string {
	if c.A == c.B {
		return fmt.Sprintf("URL %d, %s", c.A+1, list[c.A].Address)
	}
	text := fmt.Sprintf("URL %d, %s, and URL %d, %s", c.A+1, list[c.A].Address, c.B+1, list[c.B].Address)
	switch r := c.Workers; {
	case r == nil:
		return text
	case r.Size() == 1:
		return fmt.Sprintf("%s, with worker %v", text, r)
	default:
		return fmt.Sprintf("%s, with workers %v", text, r)
	}
}

// comparisonJSON is the output of "namespace check --json". As with seenJSON, programs rely on it.
type comparisonJSON struct {
	MayCoexist bool            `json:"may_coexist"`
	Databases  []seenJSON      `json:"databases"`
	Collisions []collisionJSON `json:"collisions"`
	Notes      []string        `json:"notes"`
}

type collisionJSON struct {
	Databases []int            `json:"databases"`
	Workers   *namespace.Range `json:"workers"`
	Why       string           `json:"why"`
	Hint      string           `json:"hint"`
}

func printComparisonJSON(w io.Writer, list []namespace.Seen, found namespace.Comparison) error {
	out := comparisonJSON{
		MayCoexist: len(found.Collisions) == 0, Collisions: []collisionJSON{},
		Notes: array(found.Notes),
	}
	for _, s := range list {
		out.Databases = append(out.Databases, seenForJSON(s))
	}
	for _, c := range found.Collisions {
		between := collisionJSON{Databases: []int{c.A}, Workers: c.Workers, Why: c.Why, Hint: c.Hint}
		if c.B != c.A {
			between.Databases = append(between.Databases, c.B)
		}
		out.Collisions = append(out.Collisions, between)
	}
	return printObject(w, out)
}
