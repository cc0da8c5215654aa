package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"

	"pgflurry/internal/connect"
	"pgflurry/internal/doctor"
	"pgflurry/internal/fault"
)

// doctorPatience limits the whole look: a server that sleeps may take a while to wake.
const doctorPatience = time.Minute

// newDoctor builds "pgflurry doctor".
func newDoctor() *cobra.Command {
	var url, before, after string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look at a PostgreSQL server, and say which promises of pgflurry hold on it",
		Long: `doctor looks at a PostgreSQL server, managed or not, and says which promises of pgflurry hold there.
It works before "pgflurry migrate up" as well, and with a role that lacks rights: then it names them.

It only reads, with one exception. What a crash, a failover or a scale to zero does shows only
afterwards. So run it twice:

  pgflurry doctor --database URL --before FILE    writes FILE, and makes the unlogged sequence
                                                  public.pgflurry_doctor
  restart the server, crash it, fail it over, or let it sleep
  pgflurry doctor --database URL --after FILE     compares, and drops that sequence once there was
                                                  a restart

The last line has no host, no name and no password. Paste it into an issue: it goes into the table
of managed servers.

Exit codes:
  0  nothing fails, though there may be warnings
  3  something fails
  4  the server cannot be reached

--json prints one object:
  provider (null: none shows), worst (the worst verdict of the checks), line
  checks    each: check, found, verdict (ok, not known, warning, fails), advice
  promises  the same
` + jsonRules,
		Example: `  pgflurry doctor --database postgres://owner@db/shop
  pgflurry doctor --database postgres://owner@db/shop --before look.json
  pgflurry doctor --database postgres://owner@db/shop --after look.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := connect.Parse("database", url)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), doctorPatience)
			defer cancel()
			run := examination{out: cmd.OutOrStdout(), before: before, after: after, json: asJSON}
			if after != "" { // look at the file first: a wrong one needs no server
				if run.former, err = readLook(after); err != nil {
					return err
				}
			}
			shown := showProgress(cmd) // a server that sleeps takes a while
			conn, err := connect.Open(ctx, config)
			shown.end()
			if err != nil {
				return err
			}
			defer conn.Close(context.WithoutCancel(ctx))
			return run.make(ctx, conn)
		},
	}
	databaseFlag(cmd, &url)
	cmd.Flags().StringVar(&before, "before", "", "`file` to write, before a restart; it must not exist")
	cmd.Flags().StringVar(&after, "after", "", "`file` that --before has written, after the restart")
	cmd.MarkFlagsMutuallyExclusive("before", "after")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// An examination is one run of the command.
type examination struct {
	out           io.Writer
	before, after string // files
	former        doctor.Before
	json          bool
}

// make looks, writes or compares the marker, and prints.
func (e examination) make(ctx context.Context, conn *pgx.Conn) error {
	facts, err := doctor.Look(ctx, conn)
	if err != nil {
		return err
	}
	checks := doctor.Judge(facts)
	switch {
	case e.before != "":
		file, err := createLook(e.before)
		if err != nil {
			return err
		}
		look := doctor.Mark(ctx, conn, facts)
		if err := writeLook(file, look); err != nil {
			return err
		}
		checks = append(checks, doctor.Marked(look))
	case e.after != "":
		checks = append(checks, doctor.Compare(e.former, facts, doctor.Find(ctx, conn, e.former))...)
		if e.former.Marker != 0 && doctor.Restarted(e.former, facts) {
			if err := doctor.Unmark(ctx, conn); err != nil {
				return err
			}
		}
	}
	return e.print(facts, checks)
}

// doctorJSON is the output of "doctor --json". Programs rely on it: fields may be added, but none may change its
// meaning.
type doctorJSON struct {
	Provider *string        `json:"provider"`
	Worst    doctor.Verdict `json:"worst"`
	Line     string         `json:"line"`
	Checks   []checkJSON    `json:"checks"`
	Promises []checkJSON    `json:"promises"`
}

type checkJSON struct {
	Check   string         `json:"check"`
	Found   string         `json:"found"`
	Verdict doctor.Verdict `json:"verdict"`
	Advice  *string        `json:"advice"`
}

func checksForJSON(checks []doctor.Check) []checkJSON {
	out := make([]checkJSON, len(checks))
	for i, c := range checks {
		out[i] = checkJSON{c.Name, c.Found, c.Verdict, known(c.Advice)}
	}
	return out
}

func (e examination) print(facts doctor.Facts, checks []doctor.Check) error {
	promises := doctor.Promises(facts, checks)
	line := doctor.Line(facts, checks, e.after != "", strings.Fields(longVersion())[0])
	all := slices.Concat(checks, promises)
	worst := doctor.Worst(all)
	if e.json {
		out := doctorJSON{known(doctor.Provider(facts)), worst, line, checksForJSON(checks), checksForJSON(promises)}
		if err := printObject(e.out, out); err != nil {
			return err
		}
	} else {
		t := newTable("check", "found", "verdict", "what_to_do")
		for _, c := range all {
			t.add(c.Name, c.Found, string(c.Verdict), c.Advice)
		}
		if err := t.print(e.out, false); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(e.out, "\nfor an issue:\n%s\n", line); err != nil {
			return err
		}
	}
	if worst != doctor.Fails {
		return nil
	}
	return fault.WithKind(fault.NotInPlace, fault.WithHint(errors.New("a check fails"),
		"The table above says which, and what to do."))
}
