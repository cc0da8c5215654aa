package segment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease/acknowledge"
)

// Postgres is the Store over PostgreSQL 15 or newer, also behind a pooler in transaction mode. Each call is one round
// trip on an open connection. After any outcome except a clean acknowledgement the next call opens another. So does a
// call when the connection is old (package connect).
type Postgres struct{ writer *acknowledge.Writer }

// closedForGood is the SQLSTATE of a database after "pgflurry namespace close".
const closedForGood = "SNF04"

// NewPostgres makes a Store for the database that config names; nothing is opened yet. The user needs SELECT and UPDATE
// on pgflurry.segment.
func NewPostgres(config *pgconn.Config, rules connect.Rules) *Postgres {
	return &Postgres{writer: acknowledge.NewWriter(config, rules)}
}

// Fetch implements Store.
func (p *Postgres) Fetch(ctx context.Context, r Request) (Block, error) {
	row, err := p.writer.Write(ctx, sql.Fetch, acknowledge.Text(r.Tag), acknowledge.Number(r.Size),
		acknowledge.Number(r.Above), acknowledge.Text(strconv.FormatBool(r.Raise)), acknowledge.Text(r.Origin))
	if said := new(pgconn.PgError); errors.As(err, &said) && said.Code == closedForGood {
		err = fmt.Errorf("%w: %w", ErrElsewhere, err)
	}
	if err != nil {
		return Block{}, fmt.Errorf("fetching a block of tag %q: %w", r.Tag, err)
	}
	if err := p.compare(row, r.Origin); err != nil {
		return Block{}, fmt.Errorf("fetching a block of tag %q: %w", r.Tag, err)
	}
	unknownTag := row.Null()
	tag := row.Text()
	b := Block{Before: row.Number(), Step: row.Number(), First: row.Number()}
	nothing := row.Null()
	b.Until = row.Number()
	switch {
	case row.Err() != nil:
		err = row.Err()
	case unknownTag:
		return Block{}, fmt.Errorf("tag %q: %w", r.Tag, ErrUnknownTag)
	case tag != r.Tag:
		err = fmt.Errorf("the row is of tag %q", tag)
	case nothing && b.Before < r.Above && !r.Raise:
		return b, fmt.Errorf("tag %q: %w", r.Tag, ErrFellBack)
	case nothing:
		return Block{}, fmt.Errorf("tag %q: %w", r.Tag, ErrExhausted)
	case b.First < max(b.Before, r.Above) || (b.Before < r.Above && !r.Raise) ||
		b.Until-b.First != min(max(r.Size, b.Step), maxBlock):
		err = fmt.Errorf("the numbers [%d, %d) are not what was asked for", b.First, b.Until)
	default:
		return b, nil
	}
	p.Close()
	return Block{}, fmt.Errorf("fetching a block of tag %q: reading the answer: %w", r.Tag, err)
}

// compare takes the first column of an answer, its origin, and compares it with the wanted one. A standby makes no
// statement: NULL.
func (p *Postgres) compare(row *acknowledge.Row, wanted string) error {
	switch found := row.Text(); {
	case row.Err() != nil:
		p.Close()
		return row.Err()
	case found == "":
		return errors.New("the server does not say which database it has: it is a standby")
	case found != wanted:
		return fmt.Errorf("%w: %q, expected %q", ErrElsewhere, found, wanted)
	}
	return nil
}

// Rows implements Store.
func (p *Postgres) Rows(ctx context.Context, origin string, tags []string) ([]Row, error) {
	asked, err := json.Marshal(tags)
	if err != nil {
		return nil, err
	}
	row, err := p.writer.Write(ctx, sql.Rows, asked)
	if err == nil {
		err = p.compare(row, origin)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %d tags: %w", len(tags), err)
	}
	var rows []Row
	if err := json.Unmarshal([]byte(row.Text()), &rows); err != nil {
		p.Close()
		return nil, fmt.Errorf("reading %d tags: %w", len(tags), err)
	}
	return rows, nil
}

// Close implements Store.
func (p *Postgres) Close() { p.writer.Close() }
