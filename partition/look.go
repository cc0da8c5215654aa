package partition

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/hint"
	"pgflurry/outcome"
	"pgflurry/zone"
)

// Look reads what exists, and refuses a table that does not fit. If a run is to follow, no other can work on the table
// until the session ends.
func Look(ctx context.Context, conn *pgx.Conn, s Settings, toRun bool) (Facts, error) {
	f := Facts{settings: s, taken: make(map[string]bool), times: make(map[int64]time.Time)}
	if err := f.readTable(ctx, conn); err != nil {
		return f, err
	}
	if toRun {
		if err := f.exclude(ctx, conn); err != nil {
			return f, err
		}
	}
	for _, read := range []func(context.Context, *pgx.Conn) error{
		f.readUsable, f.readParts, f.readLeft, f.readStarts, f.readTimes, f.readTaken,
	} {
		if err := read(ctx, conn); err != nil {
			return f, fmt.Errorf("looking at %s: %w", f.shown(f.name), err)
		}
	}
	return f, errors.Join(f.partsFit(), f.clocksFit())
}

func (f *Facts) readUsable(ctx context.Context, conn *pgx.Conn) error {
	var functions bool
	if err := conn.QueryRow(ctx, sql.Usable).Scan(&functions); err != nil {
		return fmt.Errorf("asking what the database has: %w", err)
	}
	if !functions {
		return outcome.As(outcome.NotInPlace, hint.With(errors.New("the database has no public.snowflake_floor()"),
			`Run "pgflurry migrate up".`))
	}
	return zone.Check(ctx, conn, "zone", f.settings.Zone)
}

func (f *Facts) readTable(ctx context.Context, conn *pgx.Conn) error {
	f.name = make(pgx.Identifier, 2)
	var persistence string
	err := conn.QueryRow(ctx, sql.Table, f.settings.Table).Scan(&f.oid, &f.name[0], &f.name[1], &f.kind, &persistence,
		&f.key, &f.fits, &f.fallback, &f.owner, &f.tablespace, &f.method)
	if errors.Is(err, pgx.ErrNoRows) {
		return outcome.As(outcome.Usage, hint.With(fmt.Errorf("there is no table %q", f.settings.Table),
			"Name it as SQL does: with its schema, and with quotes where SQL needs them."))
	}
	if err != nil {
		return fmt.Errorf("looking for table %q: %w", f.settings.Table, err)
	}
	f.unlogged = persistence == "u"
	return f.tableFits(persistence)
}

func (f *Facts) readParts(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, sql.Parts, f.oid)
	if err != nil {
		return err
	}
	f.parts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (part, error) {
		p := part{name: make(pgx.Identifier, 2)}
		var bound, comment string
		if err := row.Scan(&p.name[0], &p.name[1], &p.kind, &p.persistence, &p.replica, &p.pending, &bound, &comment,
			&p.options, &p.others); err != nil {
			return p, err
		}
		p.marked = strings.HasPrefix(comment, f.mark())
		var err error
		p.low, p.high, err = readBound(bound)
		return p, err
	})
	sort(f.parts)
	return err
}

// bounds matches how PostgreSQL prints a range.
var bounds = regexp.MustCompile(`^FOR VALUES FROM \('?(-?\d+|MINVALUE)'?\) TO \('?(-?\d+|MAXVALUE)'?\)$`)

// readBound reads the range of a partition.
func readBound(text string) (low, high int64, err error) {
	found := bounds.FindStringSubmatch(text)
	if found == nil {
		return 0, 0, fmt.Errorf("a partition is %q; expected FOR VALUES FROM (…) TO (…) of one bigint", text)
	}
	low, high = minValue, maxValue
	if found[1] != "MINVALUE" {
		if low, err = strconv.ParseInt(found[1], 10, 64); err != nil {
			return 0, 0, err
		}
	}
	if found[2] != "MAXVALUE" {
		high, err = strconv.ParseInt(found[2], 10, 64)
	}
	return low, high, err
}

func (f *Facts) readLeft(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, sql.Left, f.mark(), f.oid)
	if err != nil {
		return err
	}
	f.left, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (left, error) {
		l := left{name: make(pgx.Identifier, 2), high: maxValue}
		var comment string
		if err := row.Scan(&l.name[0], &l.name[1], &comment); err != nil {
			return l, err
		}
		if high, err := strconv.ParseInt(strings.TrimPrefix(comment, f.mark()), 10, 64); err == nil {
			l.high = high // otherwise somebody has changed the comment, and nothing is dropped
		}
		return l, nil
	})
	return err
}

func (f *Facts) readStarts(ctx context.Context, conn *pgx.Conn) error {
	begin := time.Now()
	s := f.settings
	rows, err := conn.Query(ctx, sql.Starts, s.Every, s.Zone, s.Keep, s.Ahead+1)
	if err != nil {
		return err
	}
	f.starts, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (start, error) {
		var at start
		err := row.Scan(&at.local, &at.id, &f.clock)
		f.times[at.id] = at.local
		return at, err
	})
	f.here = begin.Add(time.Since(begin) / 2)
	if err == nil {
		err = conn.QueryRow(ctx, sql.First).Scan(&f.first)
	}
	return err
}

// readTimes reads the local times of the bounds that exist.
func (f *Facts) readTimes(ctx context.Context, conn *pgx.Conn) error {
	var ids []int64
	for _, p := range f.parts {
		ids = append(ids, p.low, p.high)
	}
	rows, err := conn.Query(ctx, sql.Times, ids, f.settings.Zone)
	if err != nil {
		return err
	}
	var id int64
	var local time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &local}, func() error {
		if _, exact := f.times[id]; !exact {
			f.times[id] = local
		}
		return nil
	})
	return err
}

func (f *Facts) readTaken(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, sql.Taken, f.name[:1].Sanitize())
	if err != nil {
		return err
	}
	var name string
	_, err = pgx.ForEachRow(rows, []any{&name}, func() error {
		f.taken[name] = true
		return nil
	})
	return err
}
