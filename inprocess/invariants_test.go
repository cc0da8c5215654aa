package inprocess

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/generator"
	"pgflurry/internal/lease"
)

var errAway = errors.New("the database is away")

func away(lease.Request) (lease.Acquired, error) { return lease.Acquired{}, errAway }

func TestInvariant2NextWaitsForAGrantUntilItsContextEnds(t *testing.T) {
	s := &table{acquire: away}
	over(t, s, func(t *testing.T, g *Generator) {
		begin(t, g)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if id, err := g.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, errAway) {
			t.Errorf("Next gives %d, %v; expected the end of its context, and why it waited", id, err)
		}
		if _, err := g.TryNext(); !errors.Is(err, ErrNoGrant) || !errors.Is(err, errAway) {
			t.Errorf("TryNext: %v", err)
		}
		waited := make(chan error)
		go func() {
			ids, err := g.AppendN(patient(t), nil, 10_000)
			if err == nil && len(ids) != 10_000 {
				err = errors.New("too few IDs")
			}
			waited <- err
		}()
		synctest.Wait()
		s.set(func() { s.acquire = nil })
		if err := <-waited; err != nil {
			t.Error(err)
		}
	})
}

// Room for all of them at once would end the process.
func TestAppendNMakesNoRoomForIDsThatItDoesNotHave(t *testing.T) {
	s := &table{acquire: away}
	over(t, s, func(t *testing.T, g *Generator) {
		begin(t, g)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ids, err := g.AppendN(ctx, nil, math.MaxInt)
		if !errors.Is(err, context.DeadlineExceeded) || len(ids) > 0 {
			t.Errorf("AppendN gives %d IDs, %v; expected none, and the end of its context", len(ids), err)
		}
	})
}

func TestInvariant2AGrantThatHasEndedIsWaitedForAsTheFirstOne(t *testing.T) {
	s := &table{}
	over(t, s, func(t *testing.T, g *Generator) {
		begin(t, g)
		if _, err := g.Next(patient(t)); err != nil {
			t.Fatal(err)
		}
		s.set(func() { s.renew = func(lease.Renewal) (lease.Renewed, error) { return lease.Renewed{}, errAway } })
		time.Sleep(10 * time.Minute)
		if _, err := g.TryNext(); !errors.Is(err, ErrNoGrant) {
			t.Fatalf("TryNext: %v", err)
		}
		waited := make(chan error)
		go func() { _, err := g.Next(patient(t)); waited <- err }()
		synctest.Wait()
		select {
		case err := <-waited:
			t.Fatalf("Next has not waited: %v", err)
		default:
		}
		s.set(func() { s.renew = nil })
		if err := <-waited; err != nil {
			t.Error(err)
		}
	})
}

func TestInvariant2ACallFailsAtOnceIfNoWaitHelps(t *testing.T) {
	for name, why := range map[string]error{
		"a copy":                              &lease.Refusal{Reason: lease.Copy},
		"all are retired":                     &lease.Refusal{Reason: lease.NoWorker, Workers: 3, Retired: 3},
		"another namespace":                   lease.ErrNamespaceMismatch,
		"worker rows are in another database": lease.ErrElsewhere,
	} {
		t.Run(name, func(t *testing.T) {
			s := &table{}
			over(t, s, func(t *testing.T, g *Generator) {
				begin(t, g)
				if _, err := g.Next(patient(t)); err != nil {
					t.Fatal(err)
				}
				s.set(func() {
					s.renew = func(lease.Renewal) (lease.Renewed, error) { return lease.Renewed{}, why }
					s.acquire = func(lease.Request) (lease.Acquired, error) { return lease.Acquired{}, why }
				})
				given := 0
				_, err := g.Next(patient(t))
				for ; err == nil && given < 1000; given++ {
					time.Sleep(time.Second)
					_, err = g.Next(patient(t))
				}
				if !errors.Is(err, why) || errors.Is(err, context.DeadlineExceeded) || given == 0 {
					t.Errorf("after %d more IDs of the grant: %v; expected %v", given, err, why)
				}
			})
		})
	}
}

func TestInvariant2WhoeverWaitsLearnsOfAFaultThatNoWaitHelps(t *testing.T) {
	copied := &lease.Refusal{Reason: lease.Copy}
	s := &table{acquire: away}
	over(t, s, func(t *testing.T, g *Generator) {
		begin(t, g)
		waited := make(chan error)
		go func() { _, err := g.Next(patient(t)); waited <- err }()
		synctest.Wait()
		s.set(func() { s.acquire = func(lease.Request) (lease.Acquired, error) { return lease.Acquired{}, copied } })
		if err := <-waited; !errors.Is(err, copied) || errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

func TestInvariant3TheGeneratorIsSealedBeforeItsWorkerIsReleased(t *testing.T) {
	var session *session
	released := 0
	s := &table{release: func() {
		released++
		if id, count, err := session.generator.TryNextN(1); !errors.Is(err, generator.ErrSealed) {
			t.Errorf("the worker is released while the generator gives %d (%d IDs, %v)", id, count, err)
		}
	}}
	over(t, s, func(t *testing.T, g *Generator) {
		for _, end := range []func(context.Context) error{g.Suspend, g.Close} {
			session = begin(t, g)
			if _, err := g.Next(patient(t)); err != nil {
				t.Fatal(err)
			}
			if err := end(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := g.Next(patient(t)); err != ErrClosed || released != 2 {
			t.Errorf("after Close Next gives %v, and %d workers were released", err, released)
		}
	})
}

func TestInvariant3WhileItIsSuspendedNextWaits(t *testing.T) {
	s := &table{}
	over(t, s, func(t *testing.T, g *Generator) {
		begin(t, g)
		last, err := g.Next(patient(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Suspend(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := g.TryNext(); err != ErrSuspended || !errors.Is(g.Stats().Problem, ErrSuspended) {
			t.Errorf("TryNext: %v", err)
		}
		waited := make(chan int64)
		go func() { id, _ := g.Next(patient(t)); waited <- id }()
		synctest.Wait()
		begin(t, g)
		if id := <-waited; id <= last {
			t.Errorf("%d follows %d", id, last)
		}
	})
}

// A program that ends by a signal has a context that is over.
func TestInvariant4CloseWaitsForTheReleaseAlsoIfItsContextIsOver(t *testing.T) {
	released := false
	s := &table{release: func() { time.Sleep(time.Second); released = true }}
	over(t, s, func(t *testing.T, g *Generator) {
		begin(t, g)
		if _, err := g.Next(patient(t)); err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.Close(over); err != nil || !released {
			t.Errorf("Close: %v, released %v", err, released)
		}
	})
}

// A program may be told to end while it resumes and the database is away.
func TestInvariant4CloseEndsAResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nobody, err := pgx.ParseConfig("host=127.0.0.1")
		if err != nil {
			t.Fatal(err)
		}
		nobody.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		h, err := Settings{Connection: nobody, Node: "n", Log: slog.New(slog.DiscardHandler)}.holder()
		if err != nil {
			t.Fatal(err)
		}
		g := newGenerator(h)
		resumed, drawn := make(chan error), make(chan error)
		go func() { resumed <- g.Resume(patient(t)) }()
		go func() { _, err := g.Next(patient(t)); drawn <- err }()
		synctest.Wait()
		over, cancel := context.WithCancel(t.Context())
		cancel()
		go func() {
			if err := g.Close(over); err != nil {
				t.Error(err)
			}
		}()
		if err := <-resumed; err != ErrClosed {
			t.Errorf("Resume: %v", err)
		}
		if err := <-drawn; err != ErrClosed {
			t.Errorf("Next: %v", err)
		}
	})
}

func TestATickThatIsFullIsSaidByTryNextAlone(t *testing.T) {
	over(t, &table{}, func(t *testing.T, g *Generator) {
		begin(t, g)
		if _, err := g.Next(patient(t)); err != nil {
			t.Fatal(err)
		}
		for err := error(nil); err == nil; {
			if _, err = g.TryNext(); err != nil && err != ErrTickFull {
				t.Fatal(err)
			}
		}
		if _, err := g.Next(patient(t)); err != nil {
			t.Error(err)
		}
	})
}
