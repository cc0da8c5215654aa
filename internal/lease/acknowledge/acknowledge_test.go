package acknowledge

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"go.uber.org/goleak"

	"pgflurry/internal/connect"
	"pgflurry/tests/support/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const aWrite = "the scripted server does not read it"

func TestTheRowOfACleanExchangeIsAcknowledged(t *testing.T) {
	x := scripted.Clean("70000", "NULL", "t", "1500", "NULL", "name")
	config, _ := scripted.Server(t, &x)
	w := NewWriter(config, connect.Rules{})
	defer w.Close()
	row, err := w.Write(t.Context(), aWrite, Text("a"), Number(-5), nil)
	if err != nil {
		t.Fatal(err)
	}
	n, null, yes := row.Number(), row.Text(), row.Bool()
	d, zero, s := row.Micros(), row.Number(), row.Text()
	if n != 70000 || null != "" || !yes || d != 1500*time.Microsecond || zero != 0 || s != "name" || row.Err() != nil {
		t.Errorf("read %d %q %v %v %d %q, error %v", n, null, yes, d, zero, s, row.Err())
	}
	if row.Text(); row.Err() == nil {
		t.Error("a column beyond the last was read without an error")
	}
}

func TestInvariant1AnythingButACleanAcknowledgementIsUnknownAndClosesTheConnection(t *testing.T) {
	for _, c := range scripted.Spoiled {
		t.Run(c.Name, func(t *testing.T) {
			spoiled, good := scripted.Clean("1"), scripted.Clean("2")
			c.Spoil(&spoiled)
			config, connections := scripted.Server(t, &spoiled, &good)
			w := NewWriter(config, connect.Rules{})
			defer w.Close()
			if row, err := w.Write(t.Context(), aWrite); err == nil ||
				!strings.Contains(err.Error(), "outcome unknown") {
				t.Fatalf("row %v, error %v; expected an unknown outcome", row, err)
			}
			row, err := w.Write(t.Context(), aWrite)
			if err != nil || row.Number() != 2 {
				t.Errorf("row %v, error %v on the second connection", row, err)
			}
			if n := connections.Load(); n != 2 {
				t.Errorf("%d connections, expected 2", n)
			}
		})
	}
}

func TestCleanExchangesShareOneConnection(t *testing.T) {
	first, second := scripted.Clean("1"), scripted.Clean("2")
	config, connections := scripted.Server(t, &first, &second)
	w := NewWriter(config, connect.Rules{})
	defer w.Close()
	for range 2 {
		if _, err := w.Write(t.Context(), aWrite); err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, expected 1", n)
	}
}

func TestAWriteAfterHalfAMinuteGoesOverANewConnectionAndNothingIsLeftOnTheOldOne(t *testing.T) {
	first, second := scripted.Clean("1"), scripted.Clean("2")
	config, connections := scripted.Server(t, &first, &second)
	var now time.Duration
	w := NewWriter(config, connect.Rules{Now: func() time.Duration { return now }})
	defer w.Close()
	if _, err := w.Write(t.Context(), aWrite); err != nil {
		t.Fatal(err)
	}
	old, err := w.kept.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now = 30 * time.Second
	row, err := w.Write(t.Context(), aWrite)
	if err != nil || row.Number() != 2 {
		t.Errorf("row %v, error %v on the new connection", row, err)
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections, expected 2", n)
	}
	if _, err := old.conn.Write([]byte{0}); err == nil {
		t.Error("the old connection is still open")
	}
}

func TestAWriteGoesOverTheOldConnectionWhileTheServerTakesNoNewOne(t *testing.T) {
	first, second := scripted.Clean("1"), scripted.Clean("2")
	config, connections := scripted.Server(t, &first, &second)
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if connections.Load() > 0 {
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}
		return dial(ctx, network, address)
	}
	var now time.Duration
	w := NewWriter(config, connect.Rules{Now: func() time.Duration { return now }})
	defer w.Close()
	for number := range int64(2) {
		row, err := w.Write(t.Context(), aWrite)
		if err != nil || row.Number() != number+1 {
			t.Errorf("row %v, error %v", row, err)
		}
		now += time.Minute
	}
}

func TestTheFATALThatEndsAConnectionIsTheError(t *testing.T) {
	near, far := net.Pipe()
	wire := &wire{conn: near, frontend: pgproto3.NewFrontend(near, near)}
	go func() {
		b := pgproto3.NewBackend(far, far)
		b.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "57P01", Message: "terminating connection"})
		_ = b.Flush()
		far.Close()
	}()
	var said *pgconn.PgError
	if _, err := wire.collect(); !errors.As(err, &said) || said.Code != "57P01" {
		t.Errorf("error %v, expected what the server said", err)
	}
	near.Close()
}

func TestInvariant2AServerThatSaysNothingIsLeftAtTheDeadlineWithoutACancelRequest(t *testing.T) {
	good := scripted.Clean("1")
	config, connections := scripted.Server(t, nil, &good)
	w := NewWriter(config, connect.Rules{})
	defer w.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.Write(ctx, aWrite); err == nil || !strings.Contains(err.Error(), "outcome unknown") {
		t.Errorf("error %v, expected an unknown outcome", err)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections were opened, expected 1: a second one would carry a CancelRequest", n)
	}
	if _, err := w.Write(t.Context(), aWrite); err != nil {
		t.Errorf("on a new connection: %v", err)
	}
}

func TestCancellingTheContextEndsAnExchange(t *testing.T) {
	config, _ := scripted.Server(t, nil)
	w := NewWriter(config, connect.Rules{})
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := w.Write(ctx, aWrite); err == nil {
		t.Error("no error")
	}
}

func TestALockTimeoutIsToldApart(t *testing.T) {
	x := scripted.Clean("1")
	x.Failure = &pgconn.PgError{Code: "55P03", Message: "canceling statement due to lock timeout"}
	x.Status = 'E'
	config, _ := scripted.Server(t, &x)
	w := NewWriter(config, connect.Rules{})
	defer w.Close()
	if _, err := w.Write(t.Context(), aWrite); !errors.Is(err, ErrBlocked) {
		t.Errorf("error %v, expected %v", err, ErrBlocked)
	}
}
