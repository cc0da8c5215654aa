package suites

import (
	"io/fs"
	"strings"
	"testing"

	"pgflurry/bench/servers"
	"pgflurry/bench/trial"
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
	for _, one := range plan.Trials {
		name := one.Workload.Name + ": " + one.Contender
		if names[name] {
			t.Errorf("%q is there twice", name)
		}
		names[name] = true
		if _, front := plan.Watch[one.Contender][trial.Middle]; front != one.Through ||
			plan.Watch[one.Contender][trial.Database] == 0 {
			t.Errorf("%q is watched as %v", name, plan.Watch[one.Contender])
		}
	}
	if len(names) != 2*(len(oneAtATime)+2*len(quickest)+1+len(batches)) {
		t.Errorf("%d trials", len(names))
	}
}

func TestASourceThatCanRepeatSaysSo(t *testing.T) {
	for _, s := range oneAtATime {
		if s.file == "nextval_clock.sql" && !strings.Contains(s.name, "can repeat") {
			t.Errorf("%q does not say that it can repeat", s.name)
		}
	}
}

// everywhere has every server, each with a process of its own.
func everywhere() servers.Servers {
	return servers.Servers{
		Postgres: servers.Server{URL: "p", PID: 1}, Proxy: servers.Server{URL: "x", PID: 2},
		Pooler: servers.Server{URL: "b", PID: 3}, Redis: servers.Server{URL: "r", PID: 4},
		MariaDB: servers.Server{URL: "m", PID: 5}, IDDatabase: servers.Server{URL: "i", PID: 6},
		Balancer: servers.Server{URL: "h", PID: 7}, Limit: servers.Server{URL: "l", PID: 8},
	}
}

func TestASourceWithoutAServerIsListedAsNotRunAndHasNoTrial(t *testing.T) {
	there := everywhere()
	there.Redis = servers.Server{Missing: "redis-server is not installed"}
	b := IDs{Servers: there, Clients: []int{1}, Sources: []string{"nextval", "redis-incr"}}
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
	for key, want := range map[string]servers.Needs{
		"nextval": {}, "redis-incr": {Redis: true}, "mariadb-replace": {MariaDB: true},
		"nextval-pgbouncer": {Pooler: true}, "snowflake-id-database": {IDDatabase: true},
	} {
		if got := (IDs{Sources: []string{key}}).Needs(); got != want {
			t.Errorf("%s needs %+v; expected %+v", key, got, want)
		}
	}
	if got := (IDs{}).Needs(); got != (servers.Needs{Pooler: true, Redis: true, MariaDB: true, IDDatabase: true}) {
		t.Errorf("all sources need %+v", got)
	}
}

func TestEveryTableOfTheInsertsIsUsed(t *testing.T) {
	used := make(map[string]bool)
	for _, k := range insertSources {
		used["inserts/"+k.table] = true
	}
	if all, err := fs.Glob(tables, "inserts/*.sql"); err != nil || len(all) != len(used) ||
		len(used) != len(insertSources) {
		t.Errorf("%d tables lie there, %d are used by %d sources (error %v)",
			len(all), len(used), len(insertSources), err)
	}
}
