package primary

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	//go:embed ask.sql
	askSQL string
	//go:embed ask_timeline.sql
	askTimelineSQL string
	//go:embed ask_recovery.sql
	askRecoverySQL string
)

// An Answer is what a host says of itself.
type Answer struct {
	Standby bool
	// Timeline of the WAL that a primary writes. A promotion begins a higher one. 0: it does not tell.
	Timeline int64
	// System is the identifier of the cluster, which its physical copies share. 0: it does not tell.
	System int64
}

// lacking are the SQLSTATEs of a server that has no such function, or does not let this role call it.
var lacking = []string{"42883", "42501", "0A000"}

// Ask asks the host at the other end of a connection. It asks for less where a server does not tell all.
func Ask(ctx context.Context, conn *pgx.Conn) (Answer, error) {
	a, err := ask(ctx, conn, askSQL)
	for _, less := range []string{askTimelineSQL, askRecoverySQL} {
		var said *pgconn.PgError
		if !errors.As(err, &said) || !slices.Contains(lacking, said.Code) {
			break
		}
		a, err = ask(ctx, conn, less)
	}
	return a, err
}

func ask(ctx context.Context, conn *pgx.Conn, sql string) (a Answer, err error) {
	var timeline *string
	var system *int64
	if err := conn.QueryRow(ctx, sql).Scan(&a.Standby, &timeline, &system); err != nil {
		return Answer{}, err
	}
	if timeline != nil {
		if a.Timeline, err = strconv.ParseInt(*timeline, 16, 64); err != nil {
			return Answer{}, fmt.Errorf("the server's timeline is %q; expected 8 hexadecimal digits", *timeline)
		}
	}
	if system != nil {
		a.System = *system
	}
	return a, nil
}
