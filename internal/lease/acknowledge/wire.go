package acknowledge

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/connect"
)

// A wire is one connection to the database, which this package drives itself after authentication. It sees every
// message up to ReadyForQuery, and a deadline closes the socket and nothing else. pgconn would send a CancelRequest at
// a deadline. If that cancels a commit's wait for its standby, the commit looks acknowledged although it is not.
type wire struct {
	conn     net.Conn
	frontend *pgproto3.Frontend
}

// A statement is an SQL text with its parameters, all in text format.
type statement struct {
	sql    string
	params []Param
}

// maxAnswer limits one message of the server, in bytes. Our rows have a dozen short columns.
const maxAnswer = 1 << 20

func open(ctx context.Context, config *pgconn.Config) (*wire, error) {
	config = config.Copy()
	connect.ShareTime(ctx, config)
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	hijacked, err := pg.Hijack()
	if err != nil {
		return nil, err
	}
	hijacked.Frontend.SetMaxBodyLen(maxAnswer)
	return &wire{conn: hijacked.Conn, frontend: hijacked.Frontend}, nil
}

// write runs one statement in a transaction of its own. It returns the row if the write was cleanly acknowledged.
func (w *wire) write(ctx context.Context, lock, whole Param, sql string, params []Param) ([]value, error) {
	x, err := w.run(ctx,
		statement{sql: beginSQL},
		statement{sql: SettingsSQL, params: []Param{lock, whole}},
		statement{sql: sql, params: params},
		statement{sql: commitSQL})
	if err != nil {
		return nil, err
	}
	return acknowledge(x)
}

// run sends all statements with one Sync, and collects the answer up to ReadyForQuery. After an error the wire is
// unusable.
func (w *wire) run(ctx context.Context, statements ...statement) (exchange, error) {
	if deadline, ok := ctx.Deadline(); ok {
		if err := w.conn.SetDeadline(deadline); err != nil {
			return exchange{}, err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = w.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	for _, s := range statements {
		w.frontend.SendParse(&pgproto3.Parse{Query: s.sql})
		w.frontend.SendBind(&pgproto3.Bind{Parameters: raw(s.params)})
		w.frontend.SendExecute(&pgproto3.Execute{})
	}
	w.frontend.SendSync(&pgproto3.Sync{})
	if err := w.frontend.Flush(); err != nil {
		return exchange{}, fmt.Errorf("sending to the database: %w", err)
	}
	return w.collect()
}

func raw(params []Param) [][]byte {
	all := make([][]byte, len(params))
	for i, p := range params {
		all[i] = p
	}
	return all
}

func (w *wire) collect() (exchange, error) {
	var x exchange
	var rows [][]value
	for {
		message, err := w.frontend.Receive()
		switch {
		case err != nil && x.failure != nil: // a FATAL says why the connection ends
			return exchange{}, x.failure
		case err != nil:
			return exchange{}, fmt.Errorf("waiting for the database: %w", err)
		}
		switch m := message.(type) {
		case *pgproto3.DataRow:
			rows = append(rows, copied(m.Values))
		case *pgproto3.CommandComplete:
			x.results = append(x.results, result{tag: string(m.CommandTag), rows: rows})
			rows = nil
		case *pgproto3.NoticeResponse:
			x.notices = append(x.notices, (*pgconn.Notice)(pgconn.ErrorResponseToPgError((*pgproto3.ErrorResponse)(m))))
		case *pgproto3.ErrorResponse:
			if x.failure == nil {
				x.failure = pgconn.ErrorResponseToPgError(m)
			}
		case *pgproto3.ReadyForQuery:
			x.status = m.TxStatus
			return x, nil
		case *pgproto3.ParseComplete, *pgproto3.BindComplete, *pgproto3.ParameterStatus, *pgproto3.NotificationResponse:
		default:
			return exchange{}, fmt.Errorf("the database sent an unexpected message: %T", m)
		}
	}
}

// copied copies the values out of the frontend's buffer.
func copied(values [][]byte) []value {
	row := make([]value, len(values))
	for i, v := range values {
		if v != nil {
			row[i] = append(value{}, v...)
		}
	}
	return row
}

// close sends Terminate if the socket takes it within 100 ms, and closes the socket.
func (w *wire) close() {
	_ = w.conn.SetDeadline(time.Now().Add(100 * time.Millisecond))
	w.frontend.Send(&pgproto3.Terminate{})
	_ = w.frontend.Flush()
	_ = w.conn.Close()
}
