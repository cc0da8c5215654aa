package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/internal/draw"
	"pgflurry/internal/report"
	"pgflurry/proxy/statement"
)

// counted waits until the counters have these values.
func (r *rig) counted(what string, so func(Stats) bool) Stats {
	r.t.Helper()
	for late := time.Now().Add(giveUp); ; runtime.Gosched() {
		st := r.proxy.Stats()
		switch {
		case so(st):
			return st
		case time.Now().After(late):
			r.t.Fatalf("%s: the counters are %+v", what, st)
		}
	}
}

// is says whether a map of Stats has these labels above zero, and no others.
func is[N int | int64](got map[string]N, above map[string]N) bool {
	rest := maps.Clone(got)
	maps.DeleteFunc(rest, func(_ string, n N) bool { return n == 0 })
	return maps.Equal(rest, above)
}

func TestStatsHaveAllTheirLabelsFromTheStart(t *testing.T) {
	p, err := New(Settings{Upstream: []Host{{Network: "tcp", Address: "127.0.0.1:1"}}, IDs: draw.New(&counter{}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	st := p.Stats()
	labels := func(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
	for name, c := range map[string]struct{ got, expected []string }{
		"Open":   {slices.Sorted(maps.Keys(st.Open)), []string{"failed", "idle", "in_transaction", "login"}},
		"ByKind": {labels(st.ByKind), []string{"segment", "snowflake", "snowflakes"}},
		"Declined": {labels(st.Declined), []string{
			"grant_ended", "no_lease", "not_answerable", "tick_full", "timeout",
		}},
		"Closed": {labels(st.Closed), []string{
			"client", "demoted", "drain", "fault", "limit", "protocol", "refused", "timeout", "upstream",
		}},
		"Logins":   {labels(st.Logins), []string{"failed", "ok", "refused"}},
		"Connects": {labels(st.Connects), []string{"failed", "ok"}},
		"Cancels":  {labels(st.Cancels), []string{"dropped", "failed", "passed"}},
	} {
		if !slices.Equal(c.got, c.expected) {
			t.Errorf("%s has the labels %q; expected %q", name, c.got, c.expected)
		}
	}
	for name, n := range map[string]int{
		"Waits": len(st.Waits.Counts), "LoginDurations": len(st.LoginsIn.Counts),
		"ConnectTimes": len(st.ConnectsIn.Counts),
	} {
		if n == 0 {
			t.Errorf("%s has no buckets", name)
		}
	}
}

func TestAnswersAreCountedByFormAndIDsApartFromNumbersOfTags(t *testing.T) {
	r := newRig(t, &counter{})
	r.requestAnswered("1", 'I')
	r.send(query("SELECT next_snowflake(), next_snowflake()"))
	r.send(query("SELECT next_segment('order')"))
	r.send(query("SELECT * FROM next_snowflakes(1000)"))
	// One batch with two of the first form and one of the last.
	r.send(ourParse, bindIt, executeAll, bindIt, executeAll,
		parse("", "SELECT next_segment($1)"), bindTag("order"), executeAll, syncIt)
	st := r.counted("seven statements", func(st Stats) bool { return report.Total(st.ByKind) == 7 })
	if !is(st.ByKind, map[string]int64{"snowflake": 4, "snowflakes": 1, "segment": 2}) {
		t.Errorf("by kind there are %v", st.ByKind)
	}
	if st.IDs != 1005 || st.Numbers != 2 {
		t.Errorf("%d IDs and %d numbers; expected 1005 and 2", st.IDs, st.Numbers)
	}
	if n := st.Waits.Counts[0]; n != 7 || st.Waits.Count() != 7 || st.Waits.Sum != 0 {
		t.Errorf("of 7 answers %d did not wait, of %d in %v", n, st.Waits.Count(), st.Waits.Sum)
	}
	r.client.Close()
	r.upstream.Close()
	st = r.counted("the session's end", func(st Stats) bool { return st.Now == 0 })
	if report.Total(st.ByKind) != 7 || st.IDs != 1005 || st.Numbers != 2 || st.ByKind["snowflake"] != 4 {
		t.Errorf("with the session the counters have changed: %+v", st)
	}
}

// fullTicks gives IDs only to callers that wait.
type fullTicks struct{ counter }

func (f *fullTicks) TryNextN(int) (int64, int, error) { return 0, 0, nil }

func (f *fullTicks) NextN(_ context.Context, n int) (int64, int, error) {
	time.Sleep(time.Millisecond) // of synctest's clock
	return f.counter.TryNextN(n)
}

func TestAnswersThatWaitedAreCountedByHowLongAndTheOthersAsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p := quietSession(join(ourQuery, bytes.Repeat(join(ourParse, bindIt, executeAll), 2), syncIt), nil)
		s.requests.answers.ctx, p.counters = t.Context(), newCounters()
		p.registry.Begin()
		p.registry.Enter(&s.pair)
		s.once(t)
		p.sources.ids = draw.New(&fullTicks{}, nil)
		s.once(t)
		w := p.Stats().Waits
		within := w.Counts[slices.Index(w.Bounds, time.Millisecond):]
		if w.Counts[0] != 3 || within[0] != 6 || w.Count() != 6 || w.Sum != 3*time.Millisecond {
			t.Errorf("the waits are %+v; expected 3 answers at once, and 3 within a millisecond each", w)
		}
	})
}

// byTurns gives IDs at once, and the next time only to a caller that waits.
type byTurns struct {
	counter
	turn atomic.Int64
}

func (b *byTurns) TryNextN(n int) (int64, int, error) {
	if b.turn.Add(1)%2 == 0 {
		return 0, 0, nil
	}
	return b.counter.TryNextN(n)
}

func (b *byTurns) NextN(_ context.Context, n int) (int64, int, error) {
	for began := time.Now(); time.Since(began) < 100*time.Microsecond; { // longer than the first bucket
		runtime.Gosched()
	}
	return b.counter.TryNextN(n)
}

// If a counter falls, Prometheus takes it for that of a restarted process.
func TestNoBucketOfWaitsEverFalls(t *testing.T) {
	const rounds = 1000
	// On a busy machine an answer may have to wait long.
	r := newRigBeforeStartup(t, &byTurns{}, func(s *Settings) { s.patience = giveUp })
	r.upstream = r.starts(r.client)
	r.send(bytes.Repeat(ourQuery, rounds))
	last := make([]uint64, len(r.proxy.Stats().Waits.Counts))
	r.counted("all answers", func(st Stats) bool {
		for i, n := range st.Waits.Counts {
			if n < last[i] {
				t.Errorf("bucket %d falls from %d to %d", i, last[i], n)
			}
		}
		last = st.Waits.Counts
		return st.Waits.Count() == rounds && report.Total(st.ByKind) == rounds && st.Waits.Counts[0] == rounds/2
	})
}

func TestStatsSayWhatEachConnectionDoes(t *testing.T) {
	r := newRig(t, &counter{})
	opens := func(what string, open map[string]int) {
		t.Helper()
		r.counted(what, func(st Stats) bool { return is(st.Open, open) })
	}
	opens("after the login", map[string]int{"idle": 1})
	stranger := r.dial()
	defer stranger.Close()
	opens("with a client that has not said a word", map[string]int{"idle": 1, "login": 1})
	up := r.asksForIn(stranger)
	r.write(up, [][]byte{authOK})
	opens("with a client that is let in and has no ReadyForQuery", map[string]int{"idle": 1, "login": 1})
	r.send(query("SELECT 1"))
	r.toUpstream(query("SELECT 1"))
	opens("while upstream is at work", map[string]int{"in_transaction": 1, "login": 1})
	r.reply(complete("SELECT 1"), ready('I'))
	r.toClient(complete("SELECT 1"), ready('I'))
	opens("behind a reply", map[string]int{"idle": 1, "login": 1})
	r.begins()
	opens("inside a transaction block", map[string]int{"in_transaction": 1, "login": 1})
	r.relays(query("SELECT no"), join(theirFailure, ready('E')))
	opens("inside one that failed", map[string]int{"failed": 1, "login": 1})
	r.relays(query("ROLLBACK"), join(complete("ROLLBACK"), ready('I')))
	r.send(message('?')) // from here on replies cannot be matched to batches
	r.toUpstream(message('?'))
	opens("where the session only relays", map[string]int{"idle": 1, "login": 1})
	r.reply(ready('T'))
	opens("where it only relays, inside a block", map[string]int{"in_transaction": 1, "login": 1})
	for _, c := range []net.Conn{r.client, r.upstream, stranger, up} {
		c.Close()
	}
	opens("when all have left", nil)
}

func TestFullSaysThatNoPlaceIsLeft(t *testing.T) {
	for name, limit := range map[string]func(*Settings){
		"of sessions": func(s *Settings) { s.MaxSessions = 2 },
		"of clients":  func(s *Settings) { s.MaxSessions, s.MaxClients = 3, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, &counter{}, limit)
			r.upstream = r.starts(r.client)
			if st := r.proxy.Stats(); st.Limit != 2 || st.Full {
				t.Errorf("with one session: limit %d, full %v; expected 2, false", st.Limit, st.Full)
			}
			second, up := r.opens()
			defer up.Close()
			if st := r.proxy.Stats(); !st.Full {
				t.Error("with two sessions of two it is not full")
			}
			second.Close()
			up.Close()
			r.counted("when one has left", func(st Stats) bool { return !st.Full })
		})
	}
}

func TestStatsWaitForNoClient(t *testing.T) {
	r := newRig(t, &counter{})
	all, _ := r.proxy.registry.Open()
	for _, e := range all {
		_ = e.toClient.Do(func(io.Writer) error { // as a session does that waits for its client
			told := make(chan Stats)
			go func() { told <- r.proxy.Stats() }()
			select {
			case st := <-told:
				if st.Now != 1 {
					t.Errorf("the counters are %+v; expected one session", st)
				}
			case <-time.After(giveUp):
				t.Error("Stats waits for a client's writer")
			}
			return nil
		})
	}
}

// dry gives no IDs: for a reason, or, without one, not in time.
type dry struct{ why error }

func (d dry) TryNextN(int) (int64, int, error) { return 0, 0, d.why }

func (d dry) NextN(ctx context.Context, _ int) (int64, int, error) {
	<-ctx.Done()
	return 0, 0, ctx.Err()
}

func TestForwardedStatementsAreCountedByWhyTheyWereNotAnswered(t *testing.T) {
	errMark := errors.New("the mark is reached")
	whyNot := func(s *Settings) {
		s.WhyNot = func(err error) Decline {
			if errors.Is(err, errMark) {
				return DeclineMark
			}
			return DeclineNoLease
		}
	}
	failed := join(theirFailure, ready('I'))
	for name, c := range map[string]struct {
		ids     draw.Source
		change  func(*Settings)
		request []byte
		count   int64
	}{
		"no_lease":    {dry{errors.New("no worker")}, whyNot, ourQuery, 1},
		"grant_ended": {dry{errMark}, whyNot, join(ourParse, bindIt, executeAll, bindIt, executeAll, syncIt), 2},
		"tick_full":   {dry{}, whyNot, ourQuery, 1},
		"timeout":     {&counter{}, whyNot, query("SELECT next_segment('slow')"), 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigBeforeStartup(t, c.ids, c.change)
			r.upstream = r.starts(r.client)
			r.relays(c.request, failed)
			st := r.proxy.Stats()
			if !is(st.Declined, map[string]int64{name: c.count}) || report.Total(st.ByKind) != 0 {
				t.Errorf("declined are %v; expected %d %s", st.Declined, c.count, name)
			}
		})
	}
}

func TestStatementsThatAPermissionForbidsAreCountedWhereTheDatabaseIsListed(t *testing.T) {
	named := join(parse("s", "SELECT next_snowflake()"), syncIt)
	prepared := join(parseDone, ready('I'))
	done := join(complete("SELECT 1"), ready('I'))
	r := newRigBeforeStartup(t, &counter{}, func(s *Settings) {
		nothing := &statement.Permission{}
		s.Permission = func(database string) *statement.Permission {
			if database == "d" {
				return nothing
			}
			return nil
		}
	})
	r.upstream = r.starts(r.client)
	expect := func(what string, n int64) {
		t.Helper()
		if st := r.proxy.Stats(); !is(st.Declined, map[string]int64{"not_answerable": n}) {
			t.Fatalf("%s: %v; expected %d", what, st.Declined, n)
		}
	}
	r.relays(ourQuery, done)
	expect("a Query", 1)
	r.relays(join(ourParse, bindIt, executeAll, bindIt, executeAll, syncIt), done)
	expect("a batch of two", 3)
	r.relays(named, prepared)
	r.relays(join(message('D', z("Ss")), syncIt), done)
	expect("what runs nothing", 3)
	r.relays(join(bind("", "s"), executeAll, syncIt), done)
	expect("a prepared statement", 4)
	r.relays(query("SELECT 1"), done)
	r.relays(join(parse("", "SELECT 1"), bindIt, executeAll, syncIt), done)
	r.relays(join(parse("", "SELECT 1"), bindIt, executeAll, bind("", "s"), executeAll, syncIt), done)
	expect("other statements, and batches of them", 4)

	other := r.dial()
	defer other.Close()
	hello := startup("user", "u", "database", "unlisted")
	r.write(other, [][]byte{hello})
	up := <-r.arrivals
	defer up.Close()
	r.expect(up, "upstream", [][]byte{hello})
	r.write(up, [][]byte{authOK, ready('I')})
	r.expect(other, "client", [][]byte{authOK, ready('I')})
	r.write(other, [][]byte{ourQuery})
	r.expect(up, "upstream", [][]byte{ourQuery})
	expect("a Query to a database that is not listed", 4)
}

func BenchmarkStatsOfTenThousandSessions(b *testing.B) {
	p, err := New(Settings{Upstream: []Host{{Network: "tcp", Address: "127.0.0.1:1"}}, IDs: draw.New(&counter{}, nil)})
	if err != nil {
		b.Fatal(err)
	}
	for range 10_000 {
		s, _ := quietSession(nil, nil)
		p.registry.Enter(&s.pair)
	}
	for b.Loop() {
		if st := p.Stats(); st.Open["idle"] != 10_000 {
			b.Fatalf("%v are open", st.Open)
		}
	}
}
