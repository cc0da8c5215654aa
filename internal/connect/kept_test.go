package connect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A stage plays the server, with a clock that the test moves. Connections are numbers, counted from 1.
type stage struct {
	t     *testing.T
	now   time.Duration
	login func(context.Context) error // nil: it succeeds
	story []string                    // what happened since the last call of told
	last  int
	log   bytes.Buffer
}

func (s *stage) keep(rules Rules) *Kept[int] {
	rules.Now = func() time.Duration { return s.now }
	if rules.Jitter == nil {
		rules.Jitter = func() float64 { return 0.5 }
	}
	rules.Log = slog.New(slog.NewTextHandler(&s.log, nil))
	return Keep(func(ctx context.Context) (int, error) {
		if s.login != nil {
			if err := s.login(ctx); err != nil {
				s.story = append(s.story, "login fails")
				return 0, err
			}
		}
		s.last++
		s.story = append(s.story, fmt.Sprint("open ", s.last))
		return s.last, nil
	}, func(n int) { s.story = append(s.story, fmt.Sprint("close ", n)) }, rules)
}

// at moves the clock.
func (s *stage) at(now time.Duration) { s.now = now }

// gets expects Get to return this connection, after these events.
func (s *stage) gets(k *Kept[int], want int, events ...string) {
	s.t.Helper()
	got, err := k.Get(s.t.Context())
	if err != nil || got != want {
		s.t.Errorf("at %v Get returns %d, %v; expected %d", s.now, got, err, want)
	}
	s.told(events...)
}

// fails expects Get to return the error of the login, after these events.
func (s *stage) fails(k *Kept[int], events ...string) {
	s.t.Helper()
	if got, err := k.Get(s.t.Context()); err == nil {
		s.t.Errorf("at %v Get returns %d; expected an error", s.now, got)
	}
	s.told(events...)
}

func (s *stage) told(events ...string) {
	s.t.Helper()
	if !slices.Equal(s.story, events) {
		s.t.Errorf("at %v it happened: %q; expected %q", s.now, s.story, events)
	}
	s.story = nil
}

// refuse makes logins fail.
func (s *stage) refuse(err error) { s.login = func(context.Context) error { return err } }

// begin is a time after a rest of the pace.
const begin = time.Hour

func said(code string) error { return &pgconn.PgError{Severity: "FATAL", Code: code} }

func TestInvariant1AConnectionIsReplacedAtItsNextUseOnceItIsOld(t *testing.T) {
	for jitter, limit := range map[float64]time.Duration{0: 20 * time.Second, 0.5: 25 * time.Second} {
		s := &stage{t: t}
		k := s.keep(Rules{Jitter: func() float64 { return jitter }})
		s.gets(k, 1, "open 1")
		s.at(limit - 1)
		s.gets(k, 1)
		s.at(limit)
		s.gets(k, 2, "open 2", "close 1")
		s.at(2*limit - 1)
		s.gets(k, 2)
	}
	s := &stage{t: t}
	k := s.keep(Rules{Jitter: func() float64 { return 0.999_999 }, Age: 3 * time.Second})
	s.gets(k, 1, "open 1")
	s.at(3 * time.Second)
	s.gets(k, 2, "open 2", "close 1")
}

func TestTheAgeOfAConnectionCountsFromBeforeItsLogin(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{})
	s.login = func(context.Context) error { s.now += 10 * time.Second; return nil }
	s.gets(k, 1, "open 1")
	s.at(25 * time.Second)
	s.gets(k, 2, "open 2", "close 1")
}

func TestInvariant2TheNewConnectionIsOpenBeforeTheOldOneIsClosed(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{})
	s.gets(k, 1, "open 1")
	s.at(time.Minute)
	s.login = func(context.Context) error { s.told(); return nil } // nothing is closed yet
	s.gets(k, 2, "open 2", "close 1")
	k.Close()
	s.told("close 2")
	k.Close()
	s.told()
}

func TestInvariant3ALoginThatSaysNothingLeavesTheOldConnectionForTenMinutes(t *testing.T) {
	for _, nothing := range []error{
		said("53300"), said("57P03"), said("57P01"), said("08006"), said("08P01"), said("28P01"),
		context.DeadlineExceeded, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, io.ErrUnexpectedEOF,
		errors.Join(errors.New("no TLS"), fmt.Errorf("db1: %w", said("53300"))),
	} {
		t.Run(nothing.Error(), func(t *testing.T) {
			s := &stage{t: t}
			k := s.keep(Rules{Name: "the lease"})
			s.gets(k, 1, "open 1")
			s.refuse(nothing)
			s.at(30 * time.Second)
			s.gets(k, 1, "login fails")
			s.at(10*time.Minute + 30*time.Second - 1)
			s.gets(k, 1, "login fails")
			s.at(10*time.Minute + 30*time.Second)
			s.fails(k, "close 1", "login fails")
			s.fails(k, "login fails")
			if lines := s.log.String(); strings.Count(lines, "level=WARN") != 3 ||
				!strings.Contains(lines, "connection=\"the lease\"") || !strings.Contains(lines, "at_most=10m0s") {
				t.Errorf("the log says:\n%s", lines)
			}
		})
	}
}

func TestALoginThatFailsIsTriedAgainWithGrowingPauses(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{Jitter: func() float64 { return 0 }})
	s.gets(k, 1, "open 1")
	s.refuse(said("53300"))
	var tried []time.Duration
	for s.at(20 * time.Second); s.now < 3*time.Minute; s.now += time.Second {
		if _, err := k.Get(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(s.story) > 0 {
			tried = append(tried, s.now/time.Second)
		}
		s.story = nil
	}
	if want := []time.Duration{20, 21, 23, 27, 35, 51, 81, 111, 141, 171}; !slices.Equal(tried, want) {
		t.Errorf("logins were tried after %d s, expected %d", tried, want)
	}
	if lines := strings.Count(s.log.String(), "level=WARN"); lines != 3 {
		t.Errorf("%d warnings in 160 s, expected one and two reminders:\n%s", lines, s.log.String())
	}
	s.login = nil
	s.at(5 * time.Minute)
	s.gets(k, 2, "open 2", "close 1")
	s.at(6 * time.Minute)
	s.refuse(said("53300"))
	s.gets(k, 2, "login fails")
	s.at(6*time.Minute + time.Second)
	s.gets(k, 2, "login fails") // the pauses begin anew
	s.at(16*time.Minute - 1)
	s.gets(k, 2, "login fails") // and so does the limit
	if !strings.Contains(s.log.String(), "the old connection is replaced") {
		t.Errorf("the log says:\n%s", s.log.String())
	}
}

func TestALoginThatHangsLeavesHalfOfTheTimeToTheOldConnection(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{})
	s.gets(k, 1, "open 1")
	s.at(time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	s.login = func(part context.Context) error {
		whole, _ := ctx.Deadline()
		if deadline, limited := part.Deadline(); !limited || time.Until(deadline) > longestLogin || deadline == whole {
			t.Errorf("the login may go on until %v", deadline)
		}
		return context.DeadlineExceeded
	}
	if got, err := k.Get(ctx); err != nil || got != 1 {
		t.Errorf("Get returns %d, %v", got, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if part := partOf(short); part > time.Second {
		t.Errorf("a login has %v of 2 s", part)
	}
}

func TestACallerWhoGivesUpHasNoFailedLogin(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{})
	s.gets(k, 1, "open 1")
	s.at(time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error)
	s.login = func(context.Context) error { return <-answer }
	cancel()
	if _, err := k.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if s.log.Len() > 0 {
		t.Errorf("the log says:\n%s", s.log.String())
	}
	under := k.under
	answer <- errors.New("it has failed meanwhile")
	<-under.over
	s.login = nil
	s.story = nil
	s.gets(k, 2, "open 2", "close 1")
}

func TestInvariant4AnAnswerThatRefusesEndsTheOldConnectionAtOnce(t *testing.T) {
	for _, refusal := range []error{
		said("3D000"), said("42501"), said("28000"), said("55000"),
		errors.Join(said("53300"), fmt.Errorf("db2: %w", said("3D000"))),
	} {
		s, suspicion := &stage{t: t}, new(Suspicion)
		k := s.keep(Rules{Suspicion: suspicion})
		s.gets(k, 1, "open 1")
		s.at(30 * time.Second)
		s.refuse(refusal)
		next := suspicion.Next()
		s.fails(k, "login fails", "close 1")
		<-next
		raised := suspicion.raised()
		s.fails(k, "login fails")
		if suspicion.raised() != raised {
			t.Errorf("%v: a refusal without an old connection raised a suspicion", refusal)
		}
	}
}

func TestInvariant5ReplacementsKeepThePaceHoweverManySuspicionsCome(t *testing.T) {
	s := &stage{t: t, now: begin}
	rules := Rules{Pace: new(Pace), Suspicion: new(Suspicion)}
	kept := make([]*Kept[int], 10)
	for i := range kept {
		kept[i] = s.keep(rules)
	}
	use := func() {
		for _, k := range kept {
			if _, err := k.Get(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	use()
	if s.last != len(kept) {
		t.Fatalf("%d first logins for %d connections", s.last, len(kept))
	}
	const long = time.Minute
	for ; s.now < begin+long; s.now += 10 * time.Millisecond {
		rules.Suspicion.Raise()
		use()
	}
	if most := len(kept) + atOnce + int(long/perLogin); s.last > most || s.last < most-1 {
		t.Errorf("%d logins in a minute of suspicions, expected %d", s.last, most)
	}
	for _, k := range kept { // the places go round
		if k.conn <= s.last-len(kept) {
			t.Errorf("a connection is the %dth of %d", k.conn, s.last)
		}
	}
}

func TestAnUrgentReplacementDoesNotWaitAndOthersWaitForIt(t *testing.T) {
	s := &stage{t: t, now: begin}
	rules := Rules{Pace: new(Pace), Suspicion: new(Suspicion)}
	patient := s.keep(rules)
	rules.Urgent = true
	urgent := s.keep(rules)
	s.gets(patient, 1, "open 1")
	s.gets(urgent, 2, "open 2")
	for i := range 2 * atOnce {
		rules.Suspicion.Raise()
		s.gets(urgent, 3+i, fmt.Sprint("open ", 3+i), fmt.Sprint("close ", 2+i))
	}
	s.gets(patient, 1)
	s.at(begin + (atOnce+1)*perLogin - 1)
	s.gets(patient, 1)
	s.at(begin + (atOnce+1)*perLogin)
	s.gets(patient, 11, "open 11", "close 1")
}

func TestInvariant6ASuspicionMakesEachConnectionOldWhoseLoginBeganBefore(t *testing.T) {
	s := &stage{t: t}
	rules := Rules{Suspicion: new(Suspicion)}
	a, b := s.keep(rules), s.keep(rules)
	s.gets(a, 1, "open 1")
	s.login = func(context.Context) error { rules.Suspicion.Raise(); return nil }
	s.gets(b, 2, "open 2")
	s.login = nil
	s.gets(a, 3, "open 3", "close 1")
	s.gets(b, 4, "open 4", "close 2") // raised while it was opened
	s.gets(a, 3)
	s.gets(b, 4)
	rules.Suspicion.Raise()
	s.refuse(said("53300"))
	s.gets(a, 3, "login fails")
	s.gets(a, 3) // the pause holds for the same suspicion
	rules.Suspicion.Raise()
	s.gets(a, 3, "login fails")
}

func TestALostConnectionRaisesASuspicionAndOneThatWeEndDoesNot(t *testing.T) {
	for _, c := range []struct {
		cause   error
		raises  bool
		problem string
	}{
		{io.ErrUnexpectedEOF, true, "its socket ended"},
		{fmt.Errorf("waiting: %w", &net.OpError{Op: "read", Err: syscall.ECONNRESET}), true, "it was reset"},
		{said("57P01"), true, "its session was terminated"},
		{said("57P02"), true, "the server crashed"},
		{said("57P05"), false, "it was idle for too long"},
		{said("55P03"), false, "a lock"},
		{context.DeadlineExceeded, false, "no answer in time"},
		{errors.New("the server ended in status T"), false, "an answer that makes no sense"},
		{nil, false, "no cause"},
	} {
		s, suspicion := &stage{t: t}, new(Suspicion)
		k := s.keep(Rules{Suspicion: suspicion})
		s.gets(k, 1, "open 1")
		k.Broken(c.cause)
		s.told("close 1")
		if raised := suspicion.raised() > 0; raised != c.raises {
			t.Errorf("%s: a suspicion was raised: %v", c.problem, raised)
		}
		s.gets(k, 2, "open 2")
	}
}

func TestWhoTakesNextBeforeALookMissesNoSuspicion(t *testing.T) {
	var s Suspicion
	next := s.Next()
	if next != s.Next() {
		t.Error("two who wait for the same event have different channels")
	}
	s.Raise()
	<-next
	select {
	case <-s.Next():
		t.Error("the next event has happened before it was raised")
	default:
	}
	s.Raise()
	s.Raise() // nobody waits
	if s.raised() != 3 {
		t.Errorf("%d events, expected 3", s.raised())
	}
}

func TestALoginThatTakesLongIsNotInVain(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{})
	s.gets(k, 1, "open 1")
	s.at(30 * time.Second)
	answer, calls := make(chan error), 0
	s.login = func(context.Context) error { calls++; return <-answer }
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Get(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller without time: %v", err)
	}
	s.gets(k, 1) // it is used on, and no other login begins
	under := k.under
	answer <- nil
	<-under.over
	s.gets(k, 2, "open 2", "close 1")
	k.Close()
	s.told("close 2")
	if _, err := k.Get(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller without time: %v", err)
	}
	go func() { answer <- nil }()
	s.gets(k, 3, "open 3")
	if calls != 2 {
		t.Errorf("%d logins, expected 2", calls)
	}
}

func TestTheLimitOfALoginGrowsWithEachThatTookTooLong(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{})
	var limits []time.Duration
	s.login = func(ctx context.Context) error {
		deadline, _ := ctx.Deadline()
		limits = append(limits, time.Until(deadline).Round(time.Second))
		return context.DeadlineExceeded
	}
	for range 5 {
		s.fails(k, "login fails")
	}
	s.refuse(said("53300"))
	s.fails(k, "login fails")
	if said := fmt.Sprint(limits); said != "[5s 10s 20s 30s 30s]" {
		t.Errorf("limits %v", said)
	}
	if k.slow != 0 {
		t.Error("an answer does not show that logins are not slow")
	}
}

func TestACloseEndsALoginThatIsUnderWay(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{})
	s.login = func(ctx context.Context) error { <-ctx.Done(); return nil } // it succeeds all the same
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := k.Get(ctx); err == nil {
		t.Error("no error")
	}
	k.Close()
	s.told("open 1", "close 1")
}

// Who waits before it tries again need not wait any longer.
func TestALoginThatSucceedsAfterAFailureRaisesASuspicion(t *testing.T) {
	s, suspicion := &stage{t: t}, new(Suspicion)
	k := s.keep(Rules{Suspicion: suspicion})
	s.refuse(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	s.fails(k, "login fails")
	next := suspicion.Next()
	s.login = nil
	s.gets(k, 1, "open 1")
	<-next
	raised := suspicion.raised()
	s.gets(k, 1) // its own suspicion does not make it old
	s.at(time.Minute)
	s.gets(k, 2, "open 2", "close 1")
	if suspicion.raised() != raised {
		t.Error("a login after a success raises one as well")
	}
}

func TestAConnectionThatWasLentComesBackWithItsAge(t *testing.T) {
	s := &stage{t: t}
	k := s.keep(Rules{})
	s.gets(k, 1, "open 1")
	age := k.Lend()
	s.at(10 * time.Second)
	s.gets(k, 2, "open 2")
	k.Return(1, age)
	s.told("close 2")
	s.gets(k, 1)
	s.at(25 * time.Second)
	s.gets(k, 3, "open 3", "close 1")
}
