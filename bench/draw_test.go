package bench

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestEverySourceHasItsStatementAndEveryStatementASource(t *testing.T) {
	plan, err := IDs{Servers: everywhere(), Clients: []int{1, 4}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	used, names := make(map[string]bool), make(map[string]bool)
	for _, s := range append(append([]source{}, oneAtATime...), batches...) {
		if s.file != "" {
			used["sources/"+s.file] = true
		}
	}
	all, err := fs.Glob(sources, "sources/*.sql")
	if err != nil || len(all) != len(used) {
		t.Errorf("%d statements lie there, %d are used (error %v)", len(all), len(used), err)
	}
	for _, trial := range plan.Trials {
		name := trial.Workload.Name + ": " + trial.Contender
		if names[name] {
			t.Errorf("%q is there twice", name)
		}
		names[name] = true
		if _, front := plan.Watch[trial.Contender][Middle]; front != trial.Through || plan.Watch[trial.Contender][Database] == 0 {
			t.Errorf("%q is watched as %v", name, plan.Watch[trial.Contender])
		}
	}
	if len(names) != 2*(len(oneAtATime)+2*len(proxyAndNextval)+1+len(batches)) {
		t.Errorf("%d trials", len(names))
	}
}

func TestAWayThatCanRepeatSaysSo(t *testing.T) {
	for _, s := range oneAtATime {
		if s.file == "nextval_clock.sql" && !strings.Contains(s.name, "can repeat") {
			t.Errorf("%q does not say that it can repeat", s.name)
		}
	}
}

// everywhere has every server, each with a process of its own.
func everywhere() Servers {
	return Servers{
		Postgres: Server{URL: "p", PID: 1}, Proxy: Server{URL: "x", PID: 2}, Pooler: Server{URL: "b", PID: 3},
		Redis: Server{URL: "r", PID: 4}, MariaDB: Server{URL: "m", PID: 5},
	}
}

func TestASourceWithoutAServerIsListedAsNotRunAndHasNoTrial(t *testing.T) {
	servers := everywhere()
	servers.Redis = Server{Missing: "redis-server is not installed"}
	b := IDs{Servers: servers, Clients: []int{1}, Sources: []string{"nextval", "redis-incr"}}
	plan, err := b.Plan()
	if err != nil || len(plan.Trials) != 4 {
		t.Errorf("%d trials, error %v; expected nextval four times", len(plan.Trials), err)
	}
	if lines := b.NotRun(); len(lines) != 1 || lines[0] != "Redis INCR: redis-server is not installed" {
		t.Errorf("not run: %q", lines)
	}
	b.Sources = []string{"redis-incr"}
	if _, err := b.Plan(); err == nil || !strings.Contains(err.Error(), "redis-server is not installed") {
		t.Errorf("a plan without trials: error %v", err)
	}
}

func TestOnlyTheServersThatChosenSourcesAskAreNeeded(t *testing.T) {
	for key, want := range map[string]Needs{"nextval": {}, "redis-incr": {Redis: true}, "mariadb-replace": {MariaDB: true}, "nextval-pgbouncer": {Pooler: true}} {
		if got := (IDs{Sources: []string{key}}).Needs(); got != want {
			t.Errorf("%s needs %+v; expected %+v", key, got, want)
		}
	}
	if got := (IDs{}).Needs(); got != (Needs{Pooler: true, Redis: true, MariaDB: true}) {
		t.Errorf("all sources need %+v", got)
	}
}

func TestEveryTableOfTheInsertsIsUsed(t *testing.T) {
	used := make(map[string]bool)
	for _, k := range insertWays {
		used["inserts/"+k.table] = true
	}
	if all, err := fs.Glob(tables, "inserts/*.sql"); err != nil || len(all) != len(used) || len(used) != len(insertWays) {
		t.Errorf("%d tables lie there, %d are used by %d ways (error %v)", len(all), len(used), len(insertWays), err)
	}
}

func TestAnAddressThatCannotBeReadIsRefusedWithoutItsPassword(t *testing.T) {
	for _, address := range []string{"redis://me:secret@%zz", "redis://me:secret@host:port", "http://me:secret@host"} {
		if _, err := openRedis(address); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "expected redis://") {
			t.Errorf("%s: error %v", address, err)
		}
	}
	if _, err := mariadbVersion(t.Context(), "me:secret@nowhere"); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "expected user:") {
		t.Errorf("a data source name without address: error %v", err)
	}
}

// notes are what clients do, in the order they do it.
type notes struct {
	mu  sync.Mutex
	did []string
}

func (n *notes) add(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.did = append(n.did, what)
}

// noted is a client whose trip takes a microsecond.
type noted struct{ *notes }

func (c noted) trip(context.Context) (int, error) {
	c.add("trip")
	for began := time.Now(); time.Since(began) < time.Microsecond; {
	}
	return 1, nil
}

func (c noted) close(context.Context) { c.add("close") }

func (c noted) dial(context.Context) (client, error) {
	c.add("dial")
	return c, nil
}

func TestEachClientConnectsAndDrawsOnceBeforeTheMeasuredTimeAndLeavesAfterIt(t *testing.T) {
	for _, clients := range []int{1, 3} {
		c := noted{new(notes)}
		var before, after int
		count, err := drawFrom(clients, c.dial)(t.Context(), 5*time.Millisecond, func(work func() (Count, error)) (Count, error) {
			before = len(c.did)
			count, err := work()
			after = len(c.did)
			return count, err
		})
		want := slices.Concat(slices.Repeat([]string{"dial", "trip"}, clients), slices.Repeat([]string{"trip"}, int(count.Operations)), slices.Repeat([]string{"close"}, clients))
		if err != nil || before != 2*clients || after != len(want)-clients || !slices.Equal(c.did, want) {
			t.Errorf("%d clients were measured from %d to %d of %v (error %v)", clients, before, after, c.did, err)
		}
	}
}

func TestTheMeanIsOfAllRoundTripsAndNotOfWhatThePercentilesShow(t *testing.T) {
	count, err := drawFrom(1, noted{new(notes)}.dial)(t.Context(), 5*time.Millisecond, Unwatched)
	if err != nil {
		t.Fatal(err)
	}
	if mean := count.Latency[Mean]; mean <= 0 || mean > count.Elapsed/time.Duration(count.Operations) {
		t.Errorf("the mean is %v; expected about %v: one client was busy for %v with %d", mean, count.Elapsed/time.Duration(count.Operations), count.Elapsed, count.Operations)
	}
}
