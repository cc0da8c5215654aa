package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/connstring"
	"pgflurry/hint"
	"pgflurry/lease"
	"pgflurry/namespace"
)

const (
	// retryFirst and retryMost bound the pause after the namespace could not be read.
	retryFirst = 500 * time.Millisecond
	retryMost  = 10 * time.Second
	// layoutWarning is how long before a layout's end serve and migrate begin to warn: a new namespace has to be planned.
	// pgflurry.snowflake_lifetime() says the same in SQL.
	layoutWarning = 10 * 365 * 24 * time.Hour
)

// findNamespace reads the namespace of the lease database, waiting for what may come: a server that is down, a migration
// that was not run yet, a copy that is not told apart yet.
func (s proxySettings) findNamespace(ctx context.Context, config *pgx.ConnConfig) (namespace.Namespace, error) {
	told := telling{clock: s.clock.wall, remind: s.pauses.remind}
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		var ns namespace.Namespace
		err := look(ctx, config, s.pauses.timeout, func(ctx context.Context, conn *pgx.Conn) (err error) {
			ns, err = namespace.Read(ctx, conn)
			return err
		})
		if err == nil {
			if why, copied := ns.Copied(); copied {
				err = fmt.Errorf(`%s: run "pgflurry migrate up --database URL" on it, which says how to go on`, why)
			}
		}
		switch {
		case ctx.Err() != nil:
			return ns, nil
		case err == nil:
			return ns, s.agrees(ns)
		}
		if now, since := told.due(err.Error(), true); now {
			fields := append([]any{"cause", connstring.Explain(err)}, since...)
			s.log.Warn("no worker is leased: everything is relayed to PostgreSQL", withHint(fields, hint.Of(connstring.Explain(err)))...)
		}
		sleep(ctx, pause)
	}
}

// agrees refuses settings that the namespace does not allow.
func (s proxySettings) agrees(ns namespace.Namespace) error {
	if err := ns.Serves(); err != nil {
		return err
	}
	if ns.Disposable {
		s.log.Warn("the ID space is disposable, FOR TESTS ONLY: copies of this database give the same IDs", "database", ns.Database)
	}
	if s.window > ns.MaxWindow {
		return fmt.Errorf("--window is %v, but the namespace's max_window is %v; choose at most that", s.window, ns.MaxWindow)
	}
	if end := ns.Layout.End(); end.Sub(s.clock.wall()) < layoutWarning {
		s.log.Warn("the timestamps of the layout end soon: plan a namespace with another layout", "layout", ns.Layout, "end", end)
	}
	return nil
}

// workers is the range that --datacenter leaves.
func (s proxySettings) workers(ns namespace.Namespace) (lease.Range, error) {
	if s.datacenter == "" {
		return lease.Range{}, nil
	}
	number, err := strconv.Atoi(s.datacenter)
	if err != nil {
		return lease.Range{}, err // check has looked
	}
	lowest, highest, err := ns.Layout.WorkersOf(number)
	switch {
	case err != nil && ns.Layout.DatacenterBits > 0:
		return lease.Range{}, hint.With(fmt.Errorf("--%w", err), "Choose one of these; a layout cannot change later.")
	case err != nil:
		return lease.Range{}, hint.With(fmt.Errorf("--%w", err), "A layout with datacenters is chosen when the namespace is made: pgflurry migrate up --layout datacenter. It cannot change later.")
	case highest < ns.DatabaseWorkers:
		return lease.Range{}, hint.With(fmt.Errorf("--datacenter %d has workers %d to %d, but workers 0 to %d are for functions of databases", number, lowest, highest, ns.DatabaseWorkers-1),
			"Choose a higher datacenter.")
	}
	return lease.Range{Lowest: lowest, Highest: highest}, nil
}

// look opens a connection for one question.
func look(ctx context.Context, config *pgx.ConnConfig, timeout time.Duration, ask func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return ask(ctx, conn)
}
