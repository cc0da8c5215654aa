package database

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/connect"
	"pgflurry/internal/segment"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/server"
)

// source runs a source on the database of a URL until stop is called.
func source(t testing.TB, url string) (s *segment.Source, stop func()) {
	t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	open := func() segment.Store { return segment.NewPostgres(config, connect.Rules{}) }
	s, err = segment.New(segment.Settings{Open: open})
	if err != nil {
		t.Fatal(err)
	}
	s.From(s.Origin(), server.Value[string](t, server.Connect(t, url), "SELECT pgflurry.segment_origin()"))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Run(ctx)
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return s, stop
}

// The answer to a fetch is lost, sometimes before the acknowledgement of the commit, sometimes within it. All numbers
// of the source stay unique. The block of a fetch with an unknown outcome becomes a gap.
func TestAFetchWhoseAnswerIsLostIsNeverUsed(t *testing.T) {
	server.NoLeak(t)
	direct := server.Migrated(t)
	tag(t, direct, "order", 50)
	link, through := network.To(t, direct)
	s, stop := source(t, through)
	function := server.Connect(t, direct)
	ctx := server.Within(t)
	given, last := map[int64]bool{}, int64(0)
	take := func() error {
		first, count, err := s.NextN(ctx, []byte("order"), 3)
		for n := first; n < first+int64(count); n++ {
			if given[n] || n <= last {
				t.Fatalf("%d came after %d", n, last)
			}
			given[n], last = true, n
		}
		return err
	}
	const rounds = 6
	for round := range rounds {
		for range 40 {
			if err := take(); err != nil {
				t.Fatal(err)
			}
		}
		link.CutAnswers(5 + round*40)
		var err error
		for err == nil {
			err = take()
		}
		if !errors.Is(err, segment.ErrResting) {
			t.Fatalf("error %v, expected %v", err, segment.ErrResting)
		}
		link.Heal()
		for _, n := range numbers(t, function, "SELECT * FROM pgflurry.next_segments('order', 2)") {
			if given[n] {
				t.Fatalf("the function gave %d again", n)
			}
			given[n] = true
		}
		for take() != nil { // until the next attempt
			if ctx.Err() != nil {
				t.Fatal("numbers are not fetched again")
			}
		}
	}
	stop()
	st := s.Stats()[0]
	lost := nextOf(t, function, "order") - 1 - int64(len(given)) - st.Skipped
	t.Logf("%d numbers given, %d skipped at the end, %d of unknown fetches (%d)",
		len(given), st.Skipped, lost, st.Unknown)
	if lost <= 0 || st.Unknown < rounds {
		t.Errorf("%d numbers were lost with %d unknown fetches; expected some, or the test has cut nothing",
			lost, st.Unknown)
	}
}
