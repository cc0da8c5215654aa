package segment

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/tests/support/scripted"
)

var aRequest = Request{Origin: "here", Tag: "order", Size: 4000, Above: 6001}

// taken is the answer for a block of 4000 numbers from 6001 on: origin, tag, max_id before, step, first, until.
var taken = []string{"here", "order", "6001", "2000", "6001", "10001"}

func TestInvariant2AFetchIsOnlyAcknowledgedCleanly(t *testing.T) {
	for _, c := range scripted.Spoiled {
		t.Run(c.Name, func(t *testing.T) {
			spoiled, good := scripted.Clean(taken...), scripted.Clean(taken...)
			c.Spoil(&spoiled)
			config, connections := scripted.Server(t, &spoiled, &good)
			store := NewPostgres(config, connect.Rules{})
			defer store.Close()
			if b, err := store.Fetch(t.Context(), aRequest); err == nil || errors.Is(err, ErrUnknownTag) ||
				errors.Is(err, ErrExhausted) {
				t.Fatalf("block %+v, error %v; expected an unknown outcome", b, err)
			}
			b, err := store.Fetch(t.Context(), aRequest)
			if want := (Block{First: 6001, Until: 10001, Step: 2000, Before: 6001}); err != nil || b != want {
				t.Errorf("block %+v, error %v on the second connection", b, err)
			}
			if n := connections.Load(); n != 2 {
				t.Errorf("%d connections, expected 2", n)
			}
		})
	}
}

func TestInvariant2ABlockThatWasNotAskedForIsUnknown(t *testing.T) {
	for name, row := range map[string][]string{
		"another tag":              {"here", "item", "6001", "2000", "6001", "10001"},
		"fewer numbers":            {"here", "order", "6001", "2000", "6001", "10000"},
		"below what was given":     {"here", "order", "5000", "2000", "5000", "9000"},
		"a row below, not raised":  {"here", "order", "5000", "2000", "6001", "10001"},
		"below the row":            {"here", "order", "7000", "2000", "6001", "10001"},
		"half a row":               {"here", "order", "6001", "2000"},
		"text instead of a number": {"here", "order", "6001", "2000", "x", "10001"},
		"nothing":                  {},
	} {
		t.Run(name, func(t *testing.T) {
			odd, good := scripted.Clean(row...), scripted.Clean(taken...)
			config, connections := scripted.Server(t, &odd, &good)
			store := NewPostgres(config, connect.Rules{})
			defer store.Close()
			if b, err := store.Fetch(t.Context(), aRequest); err == nil || errors.Is(err, ErrUnknownTag) ||
				errors.Is(err, ErrExhausted) {
				t.Fatalf("block %+v, error %v; expected an unknown outcome", b, err)
			}
			if _, err := store.Fetch(t.Context(), aRequest); err != nil || connections.Load() != 2 {
				t.Errorf("error %v, %d connections; expected a second one", err, connections.Load())
			}
		})
	}
}

func TestATagWithoutARowOneAtItsEndAndOneThatFellBackAreCleanAnswers(t *testing.T) {
	missing := scripted.Clean("here", "NULL", "NULL", "NULL", "NULL", "NULL")
	full := scripted.Clean("here", "order", "9223372036854775807", "2000", "9223372036854775807", "NULL")
	behind := scripted.Clean("here", "order", "5000", "2000", "6001", "NULL")
	raised := scripted.Clean("here", "order", "5000", "2000", "6001", "10001")
	config, connections := scripted.Server(t, &missing, &full, &behind, &raised)
	store := NewPostgres(config, connect.Rules{})
	defer store.Close()
	if _, err := store.Fetch(t.Context(), aRequest); !errors.Is(err, ErrUnknownTag) {
		t.Errorf("error %v, expected %v", err, ErrUnknownTag)
	}
	if _, err := store.Fetch(t.Context(), aRequest); !errors.Is(err, ErrExhausted) {
		t.Errorf("error %v, expected %v", err, ErrExhausted)
	}
	if b, err := store.Fetch(t.Context(), aRequest); !errors.Is(err, ErrFellBack) || b.Before != 5000 {
		t.Errorf("block %+v, error %v, expected %v", b, err, ErrFellBack)
	}
	raise := aRequest
	raise.Raise = true
	if b, err := store.Fetch(t.Context(), raise); err != nil || b.First != 6001 {
		t.Errorf("block %+v, error %v, expected one from 6001 on", b, err)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, expected 1", n)
	}
}

func TestAnAnswerFromElsewhereIsCleanAndOneOfAStandbySaysNothing(t *testing.T) {
	moved := scripted.Clean("there", "NULL", "NULL", "NULL", "NULL", "NULL")
	movedRows := scripted.Clean("there", "[]")
	standby := scripted.Clean("NULL", "[]")
	closed := scripted.Clean(taken...)
	closed.Failure, closed.Status = &pgconn.PgError{Code: "SNF04", Message: "closed for good"}, 'E'
	config, connections := scripted.Server(t, &moved, &movedRows, &standby, &closed)
	store := NewPostgres(config, connect.Rules{})
	defer store.Close()
	if _, err := store.Fetch(t.Context(), aRequest); !errors.Is(err, ErrElsewhere) {
		t.Errorf("error %v, expected %v", err, ErrElsewhere)
	}
	if _, err := store.Rows(t.Context(), "here", []string{"order"}); !errors.Is(err, ErrElsewhere) {
		t.Errorf("error %v, expected %v", err, ErrElsewhere)
	}
	if _, err := store.Rows(t.Context(), "here", []string{"order"}); err == nil || errors.Is(err, ErrElsewhere) {
		t.Errorf("error %v, expected one that says nothing", err)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections, expected 1", n)
	}
	if _, err := store.Fetch(t.Context(), aRequest); !errors.Is(err, ErrElsewhere) {
		t.Errorf("a closed database: error %v, expected %v", err, ErrElsewhere)
	}
}
