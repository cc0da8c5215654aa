package server

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Deaf starts a session that draws IDs for ever, makes PostgreSQL send as much as it can, and reads nothing. Soon its
// backend waits for it. hangUp ends the session.
func Deaf(ctx context.Context, url string) (hangUp func(), err error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	// DISCARD PLANS makes each call print its plans
	conn.PgConn().Frontend().SendQuery(&pgproto3.Query{String: `SET client_min_messages = debug5;
		SET debug_print_parse = on; SET debug_print_plan = on;
		DO $$ BEGIN LOOP EXECUTE 'DISCARD PLANS'; PERFORM public.next_snowflake(); END LOOP; END $$`})
	hangUp = func() { _ = conn.PgConn().Conn().Close() } // as when a process dies
	if err := conn.PgConn().Frontend().Flush(); err != nil {
		hangUp()
		return nil, err
	}
	return hangUp, nil
}
