package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/namespace"
	"pgflurry/proxy"
)

const (
	// lookTimeout bounds one look at a database.
	lookTimeout = 5 * time.Second
	// lookAgain is the pause between two looks at a database that may be answered; retryFirst and retryMost bound the pause
	// after a look that failed.
	lookAgain  = 30 * time.Second
	retryFirst = 500 * time.Millisecond
	retryMost  = 10 * time.Second
	// layoutWarning is how long before a layout's end serve begins to warn.
	layoutWarning = 10 * 365 * 24 * time.Hour
)

// permissions holds one Permission per database whose sessions may be answered.
type permissions struct{ byDatabase map[string]*proxy.Permission }

func newPermissions(databases []string) *permissions {
	p := &permissions{byDatabase: make(map[string]*proxy.Permission, len(databases))}
	for _, name := range databases {
		p.byDatabase[name] = &proxy.Permission{}
	}
	return p
}

func (p *permissions) of(database string) *proxy.Permission { return p.byDatabase[database] }

// findNamespace reads the namespace of the lease database, waiting for what may come: a server that is down, a migration
// that was not run yet, a copy that is not told apart yet.
func (s proxySettings) findNamespace(ctx context.Context, config *pgx.ConnConfig) (namespace.Namespace, error) {
	var told string
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		var ns namespace.Namespace
		err := look(ctx, config, func(ctx context.Context, conn *pgx.Conn) (err error) {
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
		case err.Error() != told:
			told = err.Error()
			s.log.Warn("no worker is leased: everything is relayed to PostgreSQL", "cause", err, "hint", hintOf(err))
		}
		sleep(ctx, pause)
	}
}

// agrees refuses settings that the namespace does not allow.
func (s proxySettings) agrees(ns namespace.Namespace) error {
	if s.window > ns.MaxWindow {
		return fmt.Errorf("--window is %v, but the namespace's max_window is %v; choose at most that", s.window, ns.MaxWindow)
	}
	if end := ns.Layout.End(); time.Until(end) < layoutWarning {
		s.log.Warn("the timestamps of the layout end soon: plan a namespace with another layout", "layout", ns.Layout, "end", end)
	}
	return nil
}

// watch keeps the permissions current until ctx ends. A listed database of another namespace is an error at the first look;
// what changes later only changes the permission.
func (s proxySettings) watch(ctx context.Context, config *pgx.ConnConfig, id string, permissions *permissions) error {
	told := make(map[string]string)
	seen := make(map[string]bool)
	for pause := retryFirst; ctx.Err() == nil; {
		next := lookAgain
		for _, name := range s.databases {
			there := config.Copy()
			there.Database = name
			var judged namespace.Answers
			err := look(ctx, there, func(ctx context.Context, conn *pgx.Conn) error {
				if !seen[name] {
					if other, err := namespace.Read(ctx, conn); err == nil && other.ID != id {
						return &namespaceMismatch{database: name, carries: other.ID, expected: id}
					}
				}
				var err error
				judged, err = namespace.Answerable(ctx, conn, id)
				return err
			})
			switch mismatch, is := err.(*namespaceMismatch); {
			case ctx.Err() != nil:
				return nil
			case is:
				return mismatch
			case err != nil:
				// A database that cannot be asked keeps its permission: IDs go on while it is away.
				next = pause
				pause = min(2*pause, retryMost)
				s.tellOnce(told, name, "database could not be looked at", err.Error())
			default:
				seen[name] = true
				permissions.of(name).Set(levelOf(judged))
				if judged.Why != "" {
					s.tellOnce(told, name, "not every call is answered from memory", judged.Why)
				}
			}
		}
		if next == lookAgain {
			pause = retryFirst
		}
		sleep(ctx, next+rand.N(next/10))
	}
	return nil
}

func levelOf(a namespace.Answers) proxy.Level {
	switch {
	case !a.All:
		return proxy.AnswerNothing
	case !a.Unqualified:
		return proxy.AnswerQualified
	}
	return proxy.AnswerAll
}

func (s proxySettings) tellOnce(told map[string]string, database, what, why string) {
	if told[database] != why {
		told[database] = why
		s.log.Warn(what, "database", database, "cause", why)
	}
}

// namespaceMismatch is the one finding about a database that no waiting mends.
type namespaceMismatch struct{ database, carries, expected string }

func (e *namespaceMismatch) Error() string {
	return fmt.Sprintf("database %q carries namespace %s, but the lease database carries %s: their IDs may repeat each other's", e.database, e.carries, e.expected)
}

// Hint says what to run.
func (e *namespaceMismatch) Hint() string {
	return "Leave the database out of --databases, or make it part of the namespace before it holds IDs: pgflurry migrate up --database URL --join LEASE_URL."
}

// look opens a connection for one question.
func look(ctx context.Context, config *pgx.ConnConfig, ask func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return ask(ctx, conn)
}

func hintOf(err error) string {
	if hinted, ok := err.(interface{ Hint() string }); ok {
		return hinted.Hint()
	}
	return ""
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
