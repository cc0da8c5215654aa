package partition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/hint"
	"pgflurry/outcome"
)

// A Runner runs a plan.
type Runner struct {
	Conn *pgx.Conn // the session of the look
	Drop bool      // somebody has consented
	Done func(Step)

	before func(statement string) // of tests: may end the run
}

// Run runs the steps in order, and stops at the first error. Without consent it stops before the first drop.
func (r Runner) Run(ctx context.Context, p Plan) error {
	for i, step := range p.Steps {
		if step.Drops && !r.Drop {
			return unconsented(p.Steps[i:])
		}
		for _, statement := range step.Statements {
			if r.before != nil {
				r.before(statement)
			}
			if _, err := r.Conn.PgConn().Exec(ctx, statement).ReadAll(); err != nil {
				r.rollBack(ctx)
				return fmt.Errorf("%s: %w", step.Says, explained(err))
			}
		}
		r.Done(step)
	}
	return nil
}

// rollBack ends a transaction that has failed. If the connection has, PostgreSQL ends it.
func (r Runner) rollBack(ctx context.Context) {
	if r.Conn.PgConn().TxStatus() == 'I' {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = r.Conn.PgConn().Exec(ctx, sql.RollBack).ReadAll()
}

// unconsented is the error of a run without consent that has come to its drops.
func unconsented(rest []Step) error {
	var drops []string
	for _, step := range rest {
		if step.Drops {
			drops = append(drops, step.Says)
		}
	}
	return outcome.As(outcome.Usage, hint.With(
		fmt.Errorf("nothing was dropped: %s", strings.Join(drops, "; ")),
		"A drop needs consent: --yes. All other steps before it are done."))
}

// explained adds what to do next to PostgreSQL's refusals.
func explained(err error) error {
	var said *pgconn.PgError
	if !errors.As(err, &said) {
		return err
	}
	advice := map[string]string{
		"55P03": "Another session holds a lock, or an old snapshot. What was done stays. Run the command again " +
			"later: it goes on where it stopped. A longer --lock-timeout waits for that session.",
		"23503": "Rows of another table refer to rows of this partition. Delete those first.",
		"2BP01": "Something depends on the table. Drop that first, then run the command again: it goes on.",
		"42501": "Run the command as the owner of the table, or as a member of that role.",
	}[said.Code]
	if advice == "" {
		return err
	}
	if said.Detail != "" {
		err = fmt.Errorf("%w; %s", err, said.Detail)
	}
	return hint.With(err, advice)
}

// Print writes the plan as SQL that psql runs with ON_ERROR_STOP.
func (p Plan) Print(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, sql.Head, p.facts.settings.Patience.Milliseconds())
	for _, note := range p.Notes {
		fmt.Fprintf(&text, "\n-- note: %s\n", note)
	}
	for _, step := range p.Steps {
		fmt.Fprintf(&text, "\n-- %s\n%s", step.Says, strings.Join(step.Statements, ""))
	}
	_, err := io.WriteString(w, text.String())
	return err
}
