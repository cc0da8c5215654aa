package bench

import (
	"io/fs"
	"strings"
	"testing"
)

func TestEverySourceHasItsStatementAndEveryStatementASource(t *testing.T) {
	plan, err := IDs{Servers: Servers{Postgres: Server{PID: 1}, Proxy: Server{PID: 2}}, Clients: []int{1, 4}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	used, names := make(map[string]bool), make(map[string]bool)
	for _, s := range append(append([]source{}, oneAtATime...), batches...) {
		used["sources/"+s.file] = true
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
		if _, front := plan.Watch[trial.Contender][Middle]; front != trial.Through || plan.Watch[trial.Contender][Database] != 1 {
			t.Errorf("%q is watched as %v", name, plan.Watch[trial.Contender])
		}
	}
	if len(names) != 2*(len(oneAtATime)+2*len(proxyAndNextval)+len(batches)) {
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

func TestVerdictsAreAboutTheCellsThatHaveATarget(t *testing.T) {
	to := func(r float64) map[string]Spread { return map[string]Spread{Nextval: {Median: r}} }
	plan, err := IDs{Clients: []int{1, 8, 16, 64}}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var figures []Figure
	for _, trial := range plan.Trials {
		figures = append(figures, Figure{Workload: trial.Workload.Name, Contender: trial.Contender, Ratios: to(1.9)})
	}
	held := 0
	verdicts := IDVerdicts(figures)
	for _, v := range verdicts {
		if v.Holds() {
			held++
		}
	}
	// one client prepared and simple (1.3), and the function in the database three times (0.9), but neither 2.0 nor 5
	if len(verdicts) != 10 || held != 5 {
		t.Errorf("%d verdicts, %d of them hold; expected 10 and 5", len(verdicts), held)
	}
}
