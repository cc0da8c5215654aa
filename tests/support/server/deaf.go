package server

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Deaf begins a session that draws IDs for ever, lets PostgreSQL say as much as it can about that, and reads nothing.
// Its backend soon waits for it. hangUp ends it.
func Deaf(ctx context.Context, url string) (hangUp func(), err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	// planned anew for each call, so that each prints its plans
	conn.PgConn().Frontend().SendQuery(&pgproto3.Query{String: `SET client_min_messages = debug5;
		SET debug_print_parse = on; SET debug_print_plan = on;
		DO $$ BEGIN LOOP EXECUTE 'DISCARD PLANS'; PERFORM public.next_snowflake(); END LOOP; END $$`})
	hangUp = func() { _ = conn.PgConn().Conn().Close() } // as a process that dies
	if err := conn.PgConn().Frontend().Flush(); err != nil {
		hangUp()
		return nil, err
	}
	return hangUp, nil
}
