package suites

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/bench/driver"
	"pgflurry/bench/report"
	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
)

// Pgflurry is the contender of PassThrough, beside report.Direct, report.PgBouncer and report.HAProxy.
const Pgflurry = "pgflurry"

// The workloads of PassThrough, besides pipelinedWorkload.
const (
	selectWorkload = "select"
	copyWorkload   = "copy"
)

// copied is how many rows a COPY moves.
const copied = 1_000_000

// PassThrough compares what a statement costs that is only passed on: directly, and through each server in front.
func PassThrough() Suite {
	return Suite{
		Title: "Statements that are passed on", Workloads: []string{selectWorkload, pipelinedWorkload, copyWorkload},
		Clients: []int{1, 16, 64}, Bases: []string{report.Direct, report.PgBouncer, report.HAProxy},
		Needs:    func(Rig) servers.Needs { return servers.Needs{Pooler: true, Balancer: true} },
		Verdicts: passThroughVerdicts,
		Prepare: func(ctx context.Context, r Rig) error {
			if !r.chosen(copyWorkload) {
				return nil
			}
			if err := execute(ctx, r.Postgres.URL, "setup_copy"); err != nil {
				return err
			}
			_, err := r.Pgbench.Copy("pgbench/copy_out.sql", copied, r.Postgres.URL)(ctx, 0, trial.Unwatched)
			return err
		},
		Plan: func(r Rig) (p trial.Plan, err error) {
			through := func(script string) []contender {
				return []contender{
					{"", report.Direct, script, fromPostgres},
					{"", report.PgBouncer, script, fromPooler},
					{"", report.HAProxy, script, fromBalancer},
					{"", Pgflurry, script, fromProxy},
				}
			}
			if r.chosen(selectWorkload) {
				for _, mode := range []string{"simple", "extended", "prepared"} {
					for _, clients := range r.Clients {
						r.pgbench(&p, trial.With("`SELECT 1`, "+mode, clients, "client", "statements"),
							driver.PgbenchRun{Mode: mode, Each: 1}, through("pgbench/select.sql"))
					}
				}
			}
			if r.chosen(pipelinedWorkload) {
				r.pgbench(&p, trial.With("50 `SELECT 1` pipelined", 8, "client", "statements"),
					driver.PgbenchRun{Mode: "prepared", Each: driver.PipelineLength}, through("pgbench/pipelined.sql"))
			}
			if r.chosen(copyWorkload) {
				for _, way := range []string{"out", "in"} {
					w := trial.Workload{Name: "1,000,000 rows COPY " + way, Task: "COPY " + way, Counts: "rows"}
					r.add(&p, w, through("pgbench/copy_"+way+".sql"), func(c contender, s servers.Server) trial.Turn {
						return r.Pgbench.Copy(c.script, copied, s.URL)
					})
				}
			}
			return p, nil
		},
	}
}

// tables are the CREATE TABLE statements of Inserts, one a source.
//
//go:embed inserts/*.sql
var tables embed.FS

// InsertStep is how many rows a statement of Inserts has.
const InsertStep = 1000

// Inserts compares a table that one connection fills with primary keys of each kind, InsertStep rows a statement. It
// measures rows per second, the size of the key's index, and bytes of the log per row.
func Inserts() Suite {
	return Suite{
		Title: "Primary keys of a table that is filled", Workloads: []string{insertWorkload}, Clients: []int{1},
		Bases: []string{report.Nextval}, Prepare: prepareIDs,
		Plan: func(r Rig) (p trial.Plan, err error) {
			w := trial.With(report.Grouped(float64(r.Rows))+" rows by 1,000 a statement", 1, "client", "rows")
			r.add(&p, w, []contender{
				{"", report.Nextval, "nextval", fromPostgres},
				{"", inDatabase, "snowflake", fromPostgres},
				{"", "nextval, CACHE 1000", "nextval_cached", fromPostgres},
				{"", "nextval, offset 1 of 2", "nextval_offset", fromPostgres},
				{"", "UUID v4", "uuidv4", fromPostgres},
				{"", "UUID v7", "uuidv7", fromPostgres},
			}, func(c contender, _ servers.Server) trial.Turn { return r.fill(c.script) })
			return p, nil
		},
	}
}

// fill creates the table and fills it, right after a checkpoint, so that each source finds the log in the same state.
func (r Rig) fill(table string) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (count trial.Count, err error) {
		conn, err := pgx.Connect(ctx, r.Postgres.URL)
		if err != nil {
			return count, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		create, err := tables.ReadFile("inserts/" + table + ".sql")
		if err != nil {
			return count, err
		}
		defer func() {
			_, dropped := conn.Exec(context.WithoutCancel(ctx), statement("drop_rows"))
			err = errors.Join(err, dropped)
		}()
		for _, s := range []string{statement("drop_rows"), string(create), statement("checkpoint")} {
			if _, err := conn.Exec(ctx, s); err != nil {
				return count, err
			}
		}
		count, err = r.Pgbench.Against(driver.PgbenchRun{
			Script: "pgbench/insert_1000.sql", Mode: "prepared", Clients: 1, Each: InsertStep,
			Executions: r.Rows / InsertStep,
		}, r.Postgres.URL)(ctx, d, measure)
		if err != nil {
			return count, err
		}
		var index, rows int64
		if err := conn.QueryRow(ctx, statement("index_size")).Scan(&index, &rows); err != nil {
			return count, err
		}
		if rows != int64(r.Rows) {
			return count, fmt.Errorf("the table has %d rows; expected %d", rows, r.Rows)
		}
		count.Add("index of the key, MiB", float64(index)/(1<<20))
		return count, nil
	}
}
