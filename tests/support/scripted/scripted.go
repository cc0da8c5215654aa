// Package scripted plays the server's side of the wire for a package that writes through package acknowledge. The test
// writes each exchange, above all exchanges that no real server sends on request.
package scripted

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// Exchange is everything that the server sends up to ReadyForQuery.
type Exchange struct {
	Results []Result
	Notice  *pgconn.PgError // NoticeResponse behind the results
	Failure *pgconn.PgError // ErrorResponse behind that
	Status  byte            // of ReadyForQuery: I, T or E
}

// Result is what one statement returns. A nil column is NULL.
type Result struct {
	Tag  string
	Rows [][][]byte
}

// Clean returns a good exchange: the server acknowledged a write whose row has these columns. "NULL" is NULL.
func Clean(columns ...string) Exchange {
	row := make([][]byte, len(columns))
	for i, c := range columns {
		if c != "NULL" {
			row[i] = []byte(c)
		}
	}
	return Exchange{
		Status: 'I',
		Results: []Result{
			{Tag: "BEGIN"},
			{Tag: "SELECT 1", Rows: [][][]byte{{[]byte("on")}}},
			{Tag: "SELECT 1", Rows: [][][]byte{row}},
			{Tag: "COMMIT"},
		},
	}
}

const writeAt = 2 // index of the write's result

// Spoiled lists the ways in which an exchange is no clean acknowledgement.
var Spoiled = []struct {
	Name  string
	Spoil func(*Exchange)
}{
	{"a warning: the wait for the standby was cancelled", func(x *Exchange) {
		x.Notice = &pgconn.PgError{
			SeverityUnlocalized: "WARNING", Code: "01000",
			Message: "canceling wait for synchronous replication due to user request",
		}
	}},
	{"a notice", func(x *Exchange) { x.Notice = &pgconn.PgError{SeverityUnlocalized: "NOTICE", Code: "00000"} }},
	{"an error", func(x *Exchange) { x.Failure = &pgconn.PgError{Severity: "ERROR", Code: "40001"} }},
	{"the tag ROLLBACK", func(x *Exchange) { x.Results[3].Tag = "ROLLBACK" }},
	{"an open transaction", func(x *Exchange) { x.Status = 'T' }},
	{"a failed transaction", func(x *Exchange) { x.Status = 'E' }},
	{"no row", func(x *Exchange) { x.Results[writeAt] = Result{Tag: "SELECT 0"} }},
	{"a tag that does not fit its rows", func(x *Exchange) { x.Results[writeAt].Rows = nil }},
	{"two rows", func(x *Exchange) {
		x.Results[writeAt] = Result{Tag: "SELECT 2", Rows: append(x.Results[writeAt].Rows, x.Results[writeAt].Rows[0])}
	}},
	{"another tag", func(x *Exchange) { x.Results[writeAt].Tag = "UPDATE 1" }},
	{"no COMMIT", func(x *Exchange) { x.Results = x.Results[:3] }},
	{"one result too many", func(x *Exchange) { x.Results = append(x.Results, Result{Tag: "SELECT 1"}) }},
	{"nothing at all", func(x *Exchange) { *x = Exchange{Status: 'I'} }},
}

// Server plays the exchanges one after the other on the first connection. Each later connection gets those from the
// second one on. In place of a nil exchange it is silent. config leads to this server, and connections counts.
func Server(t testing.TB, answers ...*Exchange) (config *pgconn.Config, connections *atomic.Int32) {
	t.Helper()
	config, err := pgconn.ParseConfig("postgres://user@scripted/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	connections = new(atomic.Int32)
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"scripted"}, nil }
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		mine := answers
		if connections.Add(1) > 1 {
			mine = answers[1:]
		}
		played := make(chan struct{})
		go func() {
			defer close(played)
			defer far.Close()
			play(pgproto3.NewBackend(far, far), mine)
		}()
		t.Cleanup(func() { near.Close(); <-played })
		return near, nil
	}
	return config, connections
}

func play(b *pgproto3.Backend, answers []*Exchange) {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	// PostgreSQL 19 warns at login of MD5 and of a password that expires soon. That is no part of any answer.
	b.Send(&pgproto3.NoticeResponse{
		Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: "01000",
		Message: "role password will expire soon",
	})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if b.Flush() != nil {
		return
	}
	for _, x := range answers {
		for {
			m, err := b.Receive()
			if err != nil {
				return
			}
			if _, ok := m.(*pgproto3.Sync); ok {
				break
			}
		}
		if x == nil {
			continue // silent
		}
		send(b, *x)
		if b.Flush() != nil {
			return
		}
	}
	_, _ = b.Receive()
}

func send(b *pgproto3.Backend, x Exchange) {
	for _, r := range x.Results {
		b.Send(&pgproto3.ParseComplete{})
		b.Send(&pgproto3.BindComplete{})
		for _, row := range r.Rows {
			b.Send(&pgproto3.DataRow{Values: slices.Clone(row)})
		}
		b.Send(&pgproto3.CommandComplete{CommandTag: []byte(r.Tag)})
	}
	if n := x.Notice; n != nil {
		b.Send(&pgproto3.NoticeResponse{
			Severity: n.SeverityUnlocalized, SeverityUnlocalized: n.SeverityUnlocalized, Code: n.Code,
			Message: n.Message,
		})
	}
	if f := x.Failure; f != nil {
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: f.Code, Message: f.Message})
	}
	b.Send(&pgproto3.ReadyForQuery{TxStatus: x.Status})
}
