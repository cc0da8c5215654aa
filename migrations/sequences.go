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

// losesSequences says of a version of PostgreSQL (150018) that a standby of it which is promoted soon after an unlogged
// sequence was made cannot read it: sqlfuncs/mend_sequences.sql has the reason.
func losesSequences(number int) bool {
	mended := map[int]int{15: 19, 16: 15, 17: 11, 18: 5} // major: minor
	minor, known := mended[number/10000]
	return known && number%10000 < minor
}

// unreadable lists the sequences that a failover left unreadable. An older schema cannot say, and a role that may not
// ask learns it from the function.
func (d *database) unreadable(ctx context.Context) ([]string, error) {
	names, err := d.texts(ctx, "looking for unreadable sequences", unreadableSQL)
	var said *pgconn.PgError
	if errors.As(err, &said) && (said.Code == "42883" || said.Code == "42501") { // no function; no right
		return nil, nil
	}
	return names, err
}

// mendSequences makes unreadable sequences anew.
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

// keepStandbys sees to it that standbys can keep the unlogged sequences that were not there before, and says what
// nobody can do from here. Where no standby is, or PostgreSQL has no such bug, there is nothing to do.
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
