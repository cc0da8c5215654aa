package tests

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgflurry/bench/driver"
	"pgflurry/bench/servers"
	"pgflurry/bench/suites"
	"pgflurry/bench/trial"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestIDsThatTheProxyForwardedForAreAnErrorAndNoFigure(t *testing.T) {
	t.Parallel()
	private, err := servers.StartPrivate(t.Context(),
		servers.PrivateSettings{Pgflurry: program.Path(t), Bin: server.Binaries(t).Dir, Say: func(string) {}})
	t.Cleanup(func() {
		if err := private.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		err = suites.IDs().Prepare(t.Context(), suites.Rig{Servers: private.Servers}) // waits until the proxy answers
	}
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	pgbench, err := driver.NewPgbench(t.Context(), private.Binaries, folder, suites.Scripts)
	if err != nil {
		t.Fatal(err)
	}
	draw := func(target string) trial.Turn {
		return pgbench.Against(driver.PgbenchRun{
			Script: "sources/next_snowflake.sql", Mode: "simple", Clients: 2, Each: 1, Executions: 100,
		}, target)
	}
	// The function gives IDs in the middle of a turn. Before and after it the proxy answers.
	middle := func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		return measure(func() (trial.Count, error) { return draw(private.Postgres.URL)(ctx, d, trial.Unwatched) })
	}
	silent, shared := private.Servers, private.Servers
	silent.Proxy = private.Postgres
	shared.Postgres.PID = 0
	for _, c := range []struct {
		what    string
		servers servers.Servers
		turn    trial.Turn
		want    string
	}{
		{"the proxy answers", private.Servers, draw(private.Proxy.URL), ""},
		{"nothing is answered", silent, draw(private.Proxy.URL), "the function's"},
		{"one is forwarded in the middle", private.Servers, middle, "the function in the database gave IDs"},
		{"somebody else draws from a server that is shared", shared, middle, ""},
	} {
		count, err := suites.Answered(c.servers, c.turn)(t.Context(), 50*time.Millisecond, trial.Unwatched)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, error %v; expected %q", c.what, count, err, c.want)
		}
	}
}
