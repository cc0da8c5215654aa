package primary

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// An Answer is what a host says about itself.
type Answer struct {
	Standby bool
	// Timeline of the WAL that a primary writes. A promotion begins a higher one. 0: the server does not show it.
	Timeline int64
	// System is the identifier of the cluster, which its physical copies share. 0: the server does not show it.
	System int64
}

// lacking are the SQLSTATEs of a server that lacks one of the functions, or does not let this role call it.
var lacking = []string{"42883", "42501", "0A000"}

// A Question asks one host again and again. One goroutine uses it.
type Question struct {
	of   *pgx.Conn
	less int // how many forms of it the server refused
}

// Ask asks the host at the other end of a connection. If the server refuses a form of the question, Ask tries a simpler
// one, and keeps to that on this connection. Each refusal is a line in the server's log.
func (q *Question) Ask(ctx context.Context, conn *pgx.Conn) (Answer, error) {
	if q.of != conn {
		*q = Question{of: conn}
	}
	for forms := []string{sql.Ask, sql.AskTimeline, sql.AskRecovery}; ; q.less++ {
		a, err := ask(ctx, conn, forms[q.less])
		var said *pgconn.PgError
		if q.less == len(forms)-1 || !errors.As(err, &said) || !slices.Contains(lacking, said.Code) {
			return a, err
		}
	}
}

func ask(ctx context.Context, conn *pgx.Conn, statement string) (a Answer, err error) {
	var timeline *string
	var system *int64
	if err := conn.QueryRow(ctx, statement).Scan(&a.Standby, &timeline, &system); err != nil {
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
