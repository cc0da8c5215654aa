package segment

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// address leads to one table, and may be moved to another one. A connection stays where it was opened.
type address struct{ table atomic.Pointer[table] }

// lead lets connections that are opened from now on lead to a table.
func (a *address) lead(to *table) { a.table.Store(to) }

// caller is a Store that opens its connections at an address.
type caller struct {
	*address
	open *connection
}

func (a *address) call() Store { return &caller{address: a} }

func (c *caller) conn() *connection {
	if c.open == nil {
		c.open = &connection{table: c.table.Load()}
	}
	return c.open
}

func (c *caller) Fetch(ctx context.Context, r Request) (Block, error) { return c.conn().Fetch(ctx, r) }

func (c *caller) Rows(ctx context.Context, origin string, tags []string) ([]Row, error) {
	return c.conn().Rows(ctx, origin, tags)
}

func (c *caller) Close() {
	if c.open != nil {
		c.open.Close()
		c.open = nil
	}
}

// twoTables are the tables of two databases with the same tag, and an address that leads to the first.
func twoTables() (a, b *table, at *address) {
	a, b = newTable("order"), newTable("order")
	a.at, b.at = "a", "b"
	a.rows["order"].next = 501
	b.rows["order"].next = 101
	at = new(address)
	at.lead(a)
	return a, b, at
}

func TestInvariant10BeforeALookHasSaidWhereTheNumbersComeFromNoneIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := startOver(t, func() Store { return &connection{table: of} })
		defer r.stop()
		if _, err := r.draw("order", 1); !errors.Is(err, ErrElsewhere) {
			t.Errorf("error %v, expected %v", err, ErrElsewhere)
		}
		if _, fetches := of.used(); fetches != 0 {
			t.Errorf("%d fetches", fetches)
		}
		r.look(of)
		r.mustDraw("order", 1)
	})
}

func TestInvariant10AfterALookAtAnotherDatabaseNothingOfTheOldOneIsGivenNorItsMarkKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, at := twoTables()
		r := startOver(t, at.call)
		defer r.stop()
		r.look(a)
		r.mustDraw("order", 7)
		at.lead(b)
		r.look(b)
		if got := r.mustDraw("order", 1); got[0] != 101 {
			t.Errorf("it goes on with %d, expected 101 of the other database", got[0])
		}
		if b.rows["order"].next != 2101 || a.rows["order"].next != 2501 {
			t.Errorf("the rows say %d and %d, expected a block from each", a.rows["order"].next, b.rows["order"].next)
		}
		if st := r.Stats()[0]; st.Skipped != 1993 {
			t.Errorf("counted as %+v", st)
		}
		if log := r.log.String(); strings.Count(log, "level=WARN") != 1 || !strings.Contains(log, "skipped=1993") ||
			!strings.Contains(log, "before=a") {
			t.Errorf("the log does not tell:\n%s", log)
		}
	})
}

func TestInvariant10AFetchFromBeforeTheChangeIsRefusedThoughItsAnswerComesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, at := twoTables()
		r := startOver(t, at.call)
		defer r.stop()
		r.look(a)
		r.mustDraw("order", 1)
		a.do(func() { a.slow = time.Second })
		r.mustDraw("order", 199) // a tenth is used: fetches
		synctest.Wait()
		at.lead(b)
		r.look(b)
		if first, count, err := r.TryNextN([]byte("order"), 1); count != 0 || err != nil {
			t.Errorf("%d numbers from %d, error %v while the old fetch is under way", count, first, err)
		}
		time.Sleep(time.Second)
		if got := r.mustDraw("order", 1); got[0] != 101 {
			t.Errorf("it goes on with %d, expected 101", got[0])
		}
		if st := r.Stats()[0]; st.Skipped != 3800 {
			t.Errorf("counted as %+v; expected 1800 and the 2000 of the late block as skipped", st)
		}
	})
}

func TestInvariant10AFetchThatComesToAnotherDatabaseTakesNothingAndEndsAllUntilALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, at := twoTables()
		a.rows["item"] = &counter{next: 1, step: 10}
		r := startOver(t, at.call)
		defer r.stop()
		r.look(a)
		r.mustDraw("order", 1)
		r.mustDraw("item", 1)
		time.Sleep(2 * idleLimit) // connections are opened anew
		at.lead(b)
		tooEarly := r.Origin() // a look that began over an older connection
		suspected := r.suspicion.Next()
		for range 199 { // the fetch that a tenth of them causes may come to the other database meanwhile
			if _, err := r.draw("order", 1); errors.Is(err, ErrElsewhere) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		<-suspected // a look comes at once
		synctest.Wait()
		for _, tag := range []string{"order", "item"} {
			if n, err := r.draw(tag, 1); !errors.Is(err, ErrElsewhere) {
				t.Errorf("%s: numbers %v, error %v; expected %v", tag, n, err, ErrElsewhere)
			}
		}
		if b.rows["order"].next != 101 {
			t.Errorf("the row of the other database says %d, expected 101 as before", b.rows["order"].next)
		}
		if r.From(tooEarly, "a"); r.Origin().text != "" {
			t.Errorf("a look from before has set the origin %q", r.Origin().text)
		}
		if n, err := r.draw("order", 1); !errors.Is(err, ErrElsewhere) {
			t.Errorf("after a look from before: numbers %v, error %v; expected %v", n, err, ErrElsewhere)
		}
		r.look(b)
		if got := r.mustDraw("order", 1); got[0] != 101 {
			t.Errorf("it goes on with %d, expected 101", got[0])
		}
	})
}

func TestInvariant10ACheckOfTheTagsThatComesToAnotherDatabaseEndsAllUntilALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, at := twoTables()
		r := startOver(t, at.call)
		defer r.stop()
		r.look(a)
		r.mustDraw("order", 1)
		at.lead(b)
		time.Sleep(refreshEvery)
		synctest.Wait()
		if n, err := r.draw("order", 1); !errors.Is(err, ErrElsewhere) {
			t.Errorf("numbers %v, error %v; expected %v", n, err, ErrElsewhere)
		}
		if b.rows["order"].next != 101 {
			t.Errorf("the row of the other database says %d, expected 101 as before", b.rows["order"].next)
		}
	})
}

func TestInvariant10ACheckOfTheTagsFromBeforeTheChangeSaysNothingOfTheNewRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, at := twoTables()
		r := startOver(t, at.call)
		defer r.stop()
		r.look(a)
		r.mustDraw("order", 1)
		a.do(func() { a.late = time.Second; a.rows["order"].step = 7000 })
		time.Sleep(refreshEvery)
		synctest.Wait() // the check has read its row, and its answer is under way
		at.lead(b)
		r.look(b)
		r.mustDraw("order", 1)
		time.Sleep(a.late)
		synctest.Wait()
		if size := r.Stats()[0].Size; size != 2000 {
			t.Errorf("the next fetch is of %d numbers, expected 2000, the step of the other database", size)
		}
	})
}

func TestInvariant10NoFetchUsesAConnectionThatIsOlderThanTheOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, at := twoTables()
		r := startOver(t, at.call)
		defer r.stop()
		r.look(a)
		r.mustDraw("order", 1)
		at.lead(b)
		r.look(b)
		r.mustDraw("order", 1)
		if strings.Contains(r.log.String(), "now=\"\"") {
			t.Errorf("a fetch went over the old connection:\n%s", r.log)
		}
		if n, _ := a.used(); n != 0 {
			t.Errorf("%d connections to the old database are open", n)
		}
	})
}

func TestWhileALookSaysTheSameNumbersGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := newTable("order")
		r := start(t, of)
		defer r.stop()
		origin := r.Origin()
		r.mustDraw("order", 5)
		r.look(of)
		if got := r.mustDraw("order", 1); got[0] != 6 || r.Origin() != origin {
			t.Errorf("it goes on with %d, expected 6", got[0])
		}
	})
}
