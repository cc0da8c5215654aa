package migrations

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/hint"
	"pgflurry/namespace"
)

var (
	//go:embed queries/unlogged.sql
	unloggedSQL string
	//go:embed queries/unreadable.sql
	unreadableSQL string
	//go:embed queries/standbys.sql
	standbysSQL string
	//go:embed queries/checkpoint.sql
	checkpointSQL string
)

// losesSequences reports whether a version of PostgreSQL (150018) has the bug of unlogged sequences. Soon after one was
// made, a standby that is promoted cannot read it. sqlfuncs/mend_sequences.sql explains the bug.
func losesSequences(number int) bool {
	mended := map[int]int{15: 19, 16: 15, 17: 11, 18: 5} // major: minor
	minor, known := mended[number/10000]
	return known && number%10000 < minor
}

// unreadable lists the sequences that a failover left unreadable. In an older schema, or without the right to ask, it
// returns none; the function's own errors then show the problem.
func (d *database) unreadable(ctx context.Context) ([]string, error) {
	names, err := d.texts(ctx, "looking for unreadable sequences", unreadableSQL)
	var said *pgconn.PgError
	if errors.As(err, &said) && (said.Code == "42883" || said.Code == "42501") { // no function; no right
		return nil, nil
	}
	return names, err
}

// mendSequences recreates unreadable sequences.
func (d *database) mendSequences(ctx context.Context, s Settings) error {
	names, err := namespace.MendSequences(ctx, d.Conn)
	if err != nil {
		held := notAvailable(err)
		err = failed("making unreadable sequences anew", err)
		if held {
			err = hint.With(err, "An open transaction has used such a sequence. Wait until it has ended, "+
				"and run the same again.")
		}
		return err
	}
	if len(names) > 0 {
		s.say("sequences were made anew, because a failover had left them unreadable: " + strings.Join(names, ", "))
	}
	return nil
}

// keepStandbys makes sure that standbys keep new unlogged sequences, as far as it can, and says what the operator must
// do. Without a standby, or without that bug of PostgreSQL, there is nothing to do.
func (d *database) keepStandbys(ctx context.Context, s Settings, before []string) error {
	if !losesSequences(d.facts.number) {
		return nil
	}
	now, err := d.texts(ctx, "listing the unlogged sequences", unloggedSQL)
	if err != nil || !slices.ContainsFunc(now, func(oid string) bool { return !slices.Contains(before, oid) }) {
		return err
	}
	var standbys, mayCheckpoint bool
	var timeout string
	if err := d.QueryRow(ctx, standbysSQL).Scan(&standbys, &mayCheckpoint, &timeout); err != nil {
		return failed("looking for standbys", err)
	}
	if !standbys {
		return nil
	}
	where, times := "on this server, and then on each standby", "three times"
	if mayCheckpoint {
		if err := d.script(ctx, "running CHECKPOINT", checkpointSQL); err != nil {
			return err
		}
		where, times = "on each standby", "twice"
	}
	s.say(fmt.Sprintf("new sequences were made, and PostgreSQL %s has a bug, mended in 15.19, 16.15, 17.11 and 18.5: "+
		"a standby that is promoted before its next restartpoint cannot read them", d.facts.version))
	s.say(fmt.Sprintf("run CHECKPOINT %s; without it the danger lasts about %s checkpoint_timeout (here %s)",
		where, times, timeout))
	return nil
}

func (s Settings) say(sentence string) {
	if s.Say != nil {
		s.Say(sentence)
	}
}
