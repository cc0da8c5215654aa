package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake is a source that a test controls: each draw reports its size and waits for its answer.
type fake struct {
	asked   chan int
	answers chan answer
	last    int64
}

// answer is the result of a draw: so many new IDs as it asked for, or something else.
type answer struct {
	err error
	ids []int64
}

func newFake() *fake { return &fake{asked: make(chan int), answers: make(chan answer)} }

// draw implements Source.
func (f *fake) draw(ctx context.Context, n int) ([]int64, error) {
	f.asked <- n
	select {
	case a := <-f.answers:
		if a.err != nil || a.ids != nil {
			return a.ids, a.err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return f.ids(n), nil
}

func (f *fake) ids(n int) (ids []int64) {
	for range n {
		f.last++
		ids = append(ids, f.last)
	}
	return ids
}

// expect waits for a draw of so many IDs, and answers it.
func (f *fake) expect(t *testing.T, n int, a answer) {
	t.Helper()
	if got := <-f.asked; got != n {
		t.Fatalf("a draw asks for %d IDs; expected %d", got, n)
	}
	f.answers <- a
}

// counting is a Source that gives 1, 2, 3 … at once and records the sizes of its draws.
type counting struct {
	fake
	sizes []int
}

func (c *counting) draw(_ context.Context, n int) ([]int64, error) {
	c.sizes = append(c.sizes, n)
	return c.ids(n), nil
}

func pool(t *testing.T, source Source, settings Settings) *Pool {
	t.Helper()
	p, err := New(source, settings)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// got is the result of a call.
type got struct {
	ids []int64
	err error
}

// call calls NextN in a goroutine.
func call(ctx context.Context, p *Pool, n int) <-chan got {
	ended := make(chan got, 1)
	go func() {
		ids, err := p.NextN(ctx, n)
		ended <- got{ids, err}
	}()
	return ended
}

func (g got) is(t *testing.T, ids ...int64) {
	t.Helper()
	if g.err != nil || !slices.Equal(g.ids, ids) {
		t.Errorf("a call gave %v, %v; expected %v", g.ids, g.err, ids)
	}
}

func next(t *testing.T, p *Pool) int64 {
	t.Helper()
	id, err := p.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestSettingsOutsideTheirRangesAreRefusedWithTheirValues(t *testing.T) {
	for _, c := range []struct {
		settings Settings
		says     string
	}{
		{Settings{MaxBatch: -1}, "MaxBatch is -1; expected 1 to 10000"},
		{Settings{MaxBatch: MaxDraw + 1}, "MaxBatch is 10001; expected 1 to 10000"},
		{Settings{MaxAge: time.Microsecond}, "MaxAge is 1µs; expected 1ms to 1h"},
		{Settings{MaxAge: 2 * time.Hour}, "MaxAge is 2h0m0s; expected 1ms to 1h"},
		{Settings{Timeout: -time.Second}, "Timeout is -1s; expected at least 1ms"},
	} {
		if _, err := New(new(counting).draw, c.settings); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v; expected %q", c.settings, err, c.says)
		}
	}
	for _, source := range []Source{nil, Pgx(nil), SQL(nil)} {
		if _, err := New(source, Settings{}); err == nil || !strings.Contains(err.Error(), "expected Pgx(pool)") {
			t.Errorf("a nil source: %v", err)
		}
	}
}

func TestNextNOfLessThanOneIsRefused(t *testing.T) {
	p := pool(t, new(counting).draw, Settings{})
	for _, n := range []int{0, -7} {
		if ids, err := p.NextN(t.Context(), n); err == nil || !strings.Contains(err.Error(), "expected at least 1") {
			t.Errorf("NextN(%d) gave %v, %v", n, ids, err)
		}
	}
}

// stated is an error with an SQLSTATE, as those of pgx and lib/pq.
type stated string

func (s stated) Error() string    { return "refused" }
func (s stated) SQLState() string { return string(s) }

func TestTheErrorOfAMissingFunctionSaysWhatMakesIt(t *testing.T) {
	p := pool(t, func(context.Context, int) ([]int64, error) { return nil, stated("42883") }, Settings{})
	_, err := p.Next(t.Context())
	if !errors.As(err, new(stated)) || !strings.Contains(err.Error(), "pgflurry migrate up") {
		t.Errorf("the error is %v", err)
	}
}

func TestNextAllocatesNothingWhileThereAreIDs(t *testing.T) {
	p := pool(t, new(counting).draw, Settings{MaxAge: time.Hour})
	const runs = 1000
	p.ids, p.began = new(fake).ids(runs+1), p.now()
	if n := testing.AllocsPerRun(runs, func() { p.Next(t.Context()) }); n != 0 {
		t.Errorf("Next allocates %v times; expected 0", n)
	}
}

func BenchmarkNext(b *testing.B) {
	p, err := New(new(counting).draw, Settings{MaxBatch: MaxDraw, MaxAge: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		p.Next(b.Context())
	}
}

func TestDrawsHaveFewSizesWhateverIsWanted(t *testing.T) {
	var source counting
	p := pool(t, source.draw, Settings{MaxAge: time.Hour})
	for n := 1; n < 12_000; n += 97 {
		if _, err := p.NextN(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(source.sizes)
	if sizes := slices.Compact(source.sizes); len(sizes) > 16 || sizes[len(sizes)-1] != MaxDraw {
		t.Errorf("draws of %v IDs", sizes)
	}
}
