package migrations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// losesSequences reports whether a version of PostgreSQL (150018) has the bug of unlogged sequences. Soon after one was
// made, a standby that is promoted cannot read it. sqlfuncs/mend_sequences.sql explains the bug.
func losesSequences(number int) bool {
	mended := map[int]int{15: 19, 16: 15, 17: 11, 18: 5} // major: minor
	minor, known := mended[number/10000]
	return known && number%10000 < minor
}

// readUnreadable lists the sequences that a failover left unreadable. In an older schema, or without the right to ask,
// it returns none; the function's own errors then show the problem.
func readUnreadable(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	names, err := session.Texts(ctx, conn, "looking for unreadable sequences", sql.Unreadable)
	if namespace.Uncallable(err) {
		return nil, nil
	}
	return names, err
}

// mendSequences recreates unreadable sequences.
func mendSequences(ctx context.Context, conn *pgx.Conn, say func(string)) error {
	names, err := namespace.MendSequences(ctx, conn)
	if err != nil {
		held := session.NotAvailable(err)
		err = session.Failed("making unreadable sequences anew", err)
		if held {
			err = fault.WithHint(err, "An open transaction has used such a sequence. Wait until it has ended, "+
				"and run the same again.")
		}
		return err
	}
	if len(names) > 0 {
		say("sequences were made anew, because a failover had left them unreadable: " + strings.Join(names, ", "))
	}
	return nil
}

// endangered lists the unlogged sequences, if this version of PostgreSQL has the bug.
func endangered(ctx context.Context, d *session.Database) ([]string, error) {
	if !losesSequences(d.Facts.Number) {
		return nil, nil
	}
	return session.Texts(ctx, d.Conn, "listing the unlogged sequences", sql.Unlogged)
}

// keepStandbys makes sure that standbys keep new unlogged sequences, as far as it can, and says what the operator must
// do. before is what endangered listed before the sequences were made. Without a standby, or without that bug of
// PostgreSQL, there is nothing to do.
func keepStandbys(ctx context.Context, d *session.Database, before []string, say func(string)) error {
	now, err := endangered(ctx, d)
	if err != nil || !slices.ContainsFunc(now, func(oid string) bool { return !slices.Contains(before, oid) }) {
		return err
	}
	var standbys, mayCheckpoint bool
	var timeout string
	if err := d.Conn.QueryRow(ctx, sql.Standbys).Scan(&standbys, &mayCheckpoint, &timeout); err != nil {
		return session.Failed("looking for standbys", err)
	}
	if !standbys {
		return nil
	}
	where, times := "on this server, and then on each standby", "three times"
	if mayCheckpoint {
		if err := d.Script(ctx, "running CHECKPOINT", sql.Checkpoint); err != nil {
			return err
		}
		where, times = "on each standby", "twice"
	}
	say(fmt.Sprintf("new sequences were made, and PostgreSQL %s has a bug, mended in 15.19, 16.15, 17.11 and 18.5: "+
		"a standby that is promoted before its next restartpoint cannot read them", d.Facts.Version))
	say(fmt.Sprintf("run CHECKPOINT %s; without it the danger lasts about %s checkpoint_timeout (here %s)",
		where, times, timeout))
	return nil
}
