package lease

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// clean is an exchange as it should be: a renewal acknowledged up to tick 70000.
func clean() exchange {
	row := []value{value("n"), nil, value("f"), value("70000"), value("10000000"), value("60000"), value("f"), value("node"), value("f"), value("f")}
	return exchange{
		status: 'I',
		results: []result{
			{tag: "BEGIN"},
			{tag: "SELECT 1", rows: [][]value{{value("on")}}},
			{tag: "SELECT 1", rows: [][]value{row}},
			{tag: "COMMIT"},
		},
	}
}

var unclean = []struct {
	name  string
	spoil func(*exchange)
}{
	{"a warning: the wait for the standby was cancelled", func(x *exchange) {
		x.notices = []*pgconn.Notice{{SeverityUnlocalized: "WARNING", Code: "01000", Message: "canceling wait for synchronous replication due to user request"}}
	}},
	{"a notice", func(x *exchange) { x.notices = []*pgconn.Notice{{SeverityUnlocalized: "NOTICE", Code: "00000"}} }},
	{"an error", func(x *exchange) { x.failure = &pgconn.PgError{Severity: "ERROR", Code: "40001"} }},
	{"the tag ROLLBACK", func(x *exchange) { x.results[3].tag = "ROLLBACK" }},
	{"an open transaction", func(x *exchange) { x.status = 'T' }},
	{"a failed transaction", func(x *exchange) { x.status = 'E' }},
	{"no row", func(x *exchange) { x.results[2] = result{tag: "SELECT 0"} }},
	{"a tag that does not fit its rows", func(x *exchange) { x.results[2].rows = nil }},
	{"two rows", func(x *exchange) {
		x.results[2] = result{tag: "SELECT 2", rows: append(x.results[2].rows, x.results[2].rows[0])}
	}},
	{"another tag", func(x *exchange) { x.results[2].tag = "UPDATE 1" }},
	{"no COMMIT", func(x *exchange) { x.results = x.results[:3] }},
	{"one result too many", func(x *exchange) { x.results = append(x.results, result{tag: "SELECT 1"}) }},
	{"nothing at all", func(x *exchange) { *x = exchange{status: 'I'} }},
}

func TestAcknowledgeTakesTheRowOfACleanExchange(t *testing.T) {
	row, err := acknowledge(clean())
	if err != nil || string(row[3]) != "70000" {
		t.Errorf("row %q, error %v", row, err)
	}
}

func TestInvariant2AnythingButACleanAcknowledgementIsUnknown(t *testing.T) {
	for _, c := range unclean {
		t.Run(c.name, func(t *testing.T) {
			x := clean()
			c.spoil(&x)
			if row, err := acknowledge(x); err == nil {
				t.Errorf("row %q was acknowledged", row)
			}
		})
	}
}

// server plays one exchange per connection and then closes it, or says nothing at all.
func server(t *testing.T, answers ...*exchange) (config *pgconn.Config, connections *int) {
	t.Helper()
	config, err := pgconn.ParseConfig("postgres://user@scripted/db?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	connections = new(int)
	config.LookupFunc = func(context.Context, string) ([]string, error) { return []string{"scripted"}, nil }
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		backend := pgproto3.NewBackend(far, far)
		mine := answers
		if *connections > 0 {
			mine = answers[1:]
		}
		*connections++
		played := make(chan struct{})
		go func() {
			defer close(played)
			defer far.Close()
			play(backend, mine)
		}()
		t.Cleanup(func() { near.Close(); <-played })
		return near, nil
	}
	return config, connections
}

func play(b *pgproto3.Backend, answers []*exchange) {
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
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
			continue // says nothing
		}
		send(b, *x)
		if b.Flush() != nil {
			return
		}
	}
	_, _ = b.Receive()
}

func send(b *pgproto3.Backend, x exchange) {
	for _, r := range x.results {
		b.Send(&pgproto3.ParseComplete{})
		b.Send(&pgproto3.BindComplete{})
		for _, row := range r.rows {
			values := make([][]byte, len(row))
			for i, v := range row {
				values[i] = v
			}
			b.Send(&pgproto3.DataRow{Values: values})
		}
		b.Send(&pgproto3.CommandComplete{CommandTag: []byte(r.tag)})
	}
	for _, n := range x.notices {
		b.Send(&pgproto3.NoticeResponse{Severity: n.SeverityUnlocalized, SeverityUnlocalized: n.SeverityUnlocalized, Code: n.Code, Message: n.Message})
	}
	if x.failure != nil {
		b.Send(&pgproto3.ErrorResponse{Severity: "ERROR", Code: x.failure.Code, Message: x.failure.Message})
	}
	b.Send(&pgproto3.ReadyForQuery{TxStatus: x.status})
}

var aRenewal = Renewal{Lease: Lease{Namespace: "n", Worker: 3, Owner: "o", Term: 1}, Acknowledged: 60000, Wanted: 70000, Window: 60000}

func TestInvariant2TheConnectionIsClosedAfterAnUnknownOutcomeAndTheNextAttemptUsesANewOne(t *testing.T) {
	for _, c := range unclean {
		t.Run(c.name, func(t *testing.T) {
			spoiled, good := clean(), clean()
			c.spoil(&spoiled)
			config, connections := server(t, &spoiled, &good)
			store := NewPostgres(config)
			defer store.Close()
			if _, err := store.Renew(t.Context(), aRenewal); err == nil || errors.As(err, new(*Lost)) {
				t.Fatalf("error %v, expected an unknown outcome", err)
			}
			if store.wire != nil {
				t.Error("the connection is still open")
			}
			renewed, err := store.Renew(t.Context(), aRenewal)
			if err != nil || renewed.Until != 70000 || renewed.DatabaseMicros != 10_000_000 {
				t.Errorf("renewed %+v, error %v on the second connection", renewed, err)
			}
			if *connections != 2 {
				t.Errorf("%d connections, expected 2", *connections)
			}
		})
	}
}

func TestCleanExchangesShareOneConnection(t *testing.T) {
	first, second := clean(), clean()
	config, connections := server(t, &first, &second)
	store := NewPostgres(config)
	defer store.Close()
	for range 2 {
		if _, err := store.Renew(t.Context(), aRenewal); err != nil {
			t.Fatal(err)
		}
	}
	if *connections != 1 {
		t.Errorf("%d connections, expected 1", *connections)
	}
}

func TestAServerThatSaysNothingIsLeftAtTheDeadlineWithoutACancelRequest(t *testing.T) {
	good := clean()
	config, connections := server(t, nil, &good)
	store := NewPostgres(config)
	defer store.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := store.Renew(ctx, aRenewal); err == nil || !strings.Contains(err.Error(), "outcome unknown") {
		t.Errorf("error %v, expected an unknown outcome", err)
	}
	if *connections != 1 {
		t.Errorf("%d connections were opened, expected 1: a second one would carry a CancelRequest", *connections)
	}
	if _, err := store.Renew(t.Context(), aRenewal); err != nil {
		t.Errorf("on a new connection: %v", err)
	}
}

func TestCancellingTheContextEndsAnExchange(t *testing.T) {
	config, _ := server(t, nil)
	store := NewPostgres(config)
	defer store.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := store.Renew(ctx, aRenewal); err == nil {
		t.Error("no error")
	}
}

func TestALockTimeoutIsToldApart(t *testing.T) {
	x := clean()
	x.failure = &pgconn.PgError{Code: "55P03", Message: "canceling statement due to lock timeout"}
	x.status = 'E'
	config, _ := server(t, &x)
	store := NewPostgres(config)
	defer store.Close()
	if _, err := store.Renew(t.Context(), aRenewal); !errors.Is(err, ErrBlocked) {
		t.Errorf("error %v, expected %v", err, ErrBlocked)
	}
}

func TestARowThatCannotBeReadIsUnknown(t *testing.T) {
	x := clean()
	x.results[2].rows[0] = x.results[2].rows[0][:2]
	config, _ := server(t, &x)
	store := NewPostgres(config)
	defer store.Close()
	if renewed, err := store.Renew(t.Context(), aRenewal); err == nil {
		t.Errorf("renewed %+v from half a row", renewed)
	}
}
