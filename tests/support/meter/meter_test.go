package meter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// at returns a time of these stories, in seconds.
func at(seconds float64) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}

func TestInvariant1TheTimeWithoutIsFromTheLastSuccessBeforeTheFaultToTheNext(t *testing.T) {
	m := New("writes")
	writes := m.Watch("services", "writes", "")
	for _, s := range []float64{1, 2, 9, 10} { // 7 s before the fault do not count
		writes.Success(at(s))
	}
	m.Mark("kill", at(10.2))
	for _, s := range []float64{13.5, 10.4, 14, 15} { // reported out of order
		writes.Success(at(s))
	}
	outages := m.Settled(at(15.1))
	if len(outages) != 1 || outages[0].From != at(10) || outages[0].To != at(13.5) || !outages[0].Back {
		t.Errorf("got %+v; expected from 10 s to 13.5 s", outages)
	}
}

func TestInvariant2WhatHasNotComeBackIsToldAndItsTimeRunsOn(t *testing.T) {
	m := New("writes")
	writes, never := m.Watch("services", "writes", ""), m.Watch("services", "function", "")
	_ = never
	writes.Success(at(1))
	m.Mark("kill", at(2))
	writes.Success(at(3))
	outages := m.Settled(at(20))
	if outages[0].Back || outages[0].From != at(3) || outages[0].To != at(20) {
		t.Errorf("writes: %+v", outages[0])
	}
	if outages[1].Back || outages[1].From != at(2) || outages[1].To != at(20) {
		t.Errorf("a function that was never there: %+v", outages[1])
	}
	if l := m.Report().Lines[0]; l.Without["writes"].NotBack != 1 || l.Without["function"].NotBack != 1 {
		t.Errorf("the report tells %+v", l)
	}
	if silent := m.Silent(at(3.5)); len(silent) != 2 {
		t.Errorf("silent are %q", silent)
	}
}

func TestInvariant3OnlyIDsOfStatementsWithinTheOutageWereGivenDuringIt(t *testing.T) {
	m := New("writes")
	writes := m.Watch("services", "writes", "")
	writes.Success(at(10))
	m.Mark("kill", at(10))
	m.Given("proxies", at(9), at(11), 1)   // begun before
	m.Given("proxies", at(11), at(12), 10) // within
	m.Given("ids", at(12), at(12.9), 100)  // within
	m.Given("ids", at(12), at(14), 1000)   // ended after
	writes.Success(at(13))
	m.Settled(at(13.2))
	m.Given("ids", at(13.4), at(13.5), 5) // no fault lasts
	l := m.Report().Lines[0]
	if l.Given["proxies"] != 10 || l.Given["ids"] != 100 {
		t.Errorf("given during it: %v; expected 10 and 100", l.Given)
	}
}

func TestAReportHasALineForEachKindOfFaultAndOneForAll(t *testing.T) {
	m := New("writes")
	writes, elsewhere := m.Watch("services", "writes", "here"), m.Watch("services", "writes", "elsewhere")
	now := 0.0
	happen := func(kind string, away float64) {
		writes.Success(at(now))
		elsewhere.Success(at(now))
		m.Mark(kind, at(now))
		for range 5 { // this one is away for less time
			now += away / 5
			elsewhere.Success(at(now))
		}
		writes.Success(at(now))
		m.Settled(at(now))
		now++
	}
	for i := range 10 {
		happen("kill", float64(1+i))
	}
	happen("switchover", 0.04)
	m.Twice()
	writes.Success(at(now))
	elsewhere.Success(at(now))
	m.Mark("kill", at(now))
	m.Lost(3)
	m.Saw("pgx", "pgx 1", "57P01 going")
	m.Saw("pgx", "pgx 1", "57P03 second sight of the same client")
	m.Saw("pgx", "pgx 2", "57P01 going")
	m.Saw("psql", "psql", "57P01 going")
	m.Settled(at(now))
	r := m.Report()
	if len(r.Lines) != 3 || r.Lines[0].Fault != Calm || r.Lines[1].Times != 11 || r.Total.Times != 12 {
		t.Fatalf("got %+v", r)
	}
	kill := r.Lines[1].Without["writes"]
	if kill.P50 != Duration(5*time.Second) || kill.Worst != Duration(10*time.Second) || kill.Faults != 11 {
		t.Errorf("kill: %+v; expected p50 5 s of eleven, worst 10 s", kill)
	}
	if r.Total.Lost != 3 || r.Total.Twice != 1 || r.Lines[1].Lost != 3 || r.Lines[0].Twice != 1 {
		t.Errorf("lost and twice: %+v", r)
	}
	if len(r.Seen) != 2 || r.Seen[0] != (Seen{"kill", "pgx", "57P01 going", 2}) {
		t.Errorf("seen: %+v", r.Seen)
	}
	for _, line := range []string{
		"| kill | 11 | 5.0 s / 10 s |", "| switchover | 1 | 40 ms / 40 ms |", "| all | 12 | 4.0 s / 10 s |",
		"| kill | 11 | 3 | 0 |", "| all | 12 | 3 | 1 |", "| kill | 57P01 going | pgx (2); psql (1) |",
	} {
		if !strings.Contains(r.Markdown(), line+"\n") {
			t.Errorf("no line %s in\n%s", line, r.Markdown())
		}
	}
	var back struct {
		Total struct {
			Without map[string]struct{ Worst float64 }
		}
	}
	text, err := json.Marshal(r)
	if err := errors.Join(err, json.Unmarshal(text, &back)); err != nil || back.Total.Without["writes"].Worst != 10 {
		t.Errorf("%v, %+v", err, back)
	}
}

func TestAFaultThatLastsIsNotCountedYet(t *testing.T) {
	m := New("writes")
	m.Watch("services", "writes", "").Success(at(1))
	m.Mark("kill", at(1))
	if r := m.Report(); len(r.Lines) != 0 || r.Total.Times != 0 {
		t.Errorf("the report has %+v", r.Lines)
	}
	m.Settled(at(2))
	if r := m.Report(); len(r.Lines) != 1 || r.Total.Times != 1 {
		t.Errorf("the report has %+v", r.Lines)
	}
}

func TestEqualErrorsOfDifferentPlacesAreEqual(t *testing.T) {
	for want, err := range map[string]error{
		"57P01 terminating connection due to administrator command": fmt.Errorf("draw: %w", &pgconn.PgError{
			Code: "57P01", Message: "terminating connection due to administrator command",
		}),
		"connection refused": fmt.Errorf("dial: %w", syscall.ECONNREFUSED),
		"no answer in time":  fmt.Errorf("query: %w", context.DeadlineExceeded),
		"connection to server at ADDRESS failed: server closed the connection, process N": errors.New(
			"connection to server at 10.93.0.2:5432 failed:\n  server closed the connection, process 12345"),
		"57P03 no worker is granted before TIME, in N s": errors.New(
			"57P03 no worker is granted before 2026-11-23T02:38:20Z, in 1m2s"),
		"57014 canceling after N ms": errors.New("57014 canceling after 5000 ms"),
	} {
		if got := Says(err); got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}
