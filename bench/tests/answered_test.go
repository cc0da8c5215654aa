package benchmark

import (
	"context"
	"strings"
	"testing"
	"time"

	"pgflurry/bench"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestIDsThatTheProxyForwardedForAreAnErrorAndNoFigure(t *testing.T) {
	private, err := bench.StartPrivate(t.Context(), bench.PrivateSettings{Pgflurry: program.Path(t), Bin: server.Binaries(t).Dir, Say: func(string) {}})
	t.Cleanup(func() {
		if err := private.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		err = bench.IDs{Servers: private.Servers}.Prepare(t.Context()) // which waits until the proxy answers
	}
	if err != nil {
		t.Fatal(err)
	}
	draw := bench.Draw{SQL: "SELECT next_snowflake()", Rows: 1, Clients: 2}
	// The function gives IDs in the middle of a turn; before and after it the proxy answers.
	middle := func(ctx context.Context, d time.Duration, measure bench.Measure) (bench.Count, error) {
		return measure(func() (bench.Count, error) { return draw.From(private.Postgres.URL)(ctx, d, bench.Unwatched) })
	}
	silent, shared := private.Servers, private.Servers
	silent.Proxy = private.Postgres
	shared.Postgres.PID = 0
	for _, c := range []struct {
		what    string
		servers bench.Servers
		turn    bench.Turn
		want    string
	}{
		{"the proxy answers", private.Servers, draw.From(private.Proxy.URL), ""},
		{"nothing is answered", silent, draw.From(private.Proxy.URL), "the function's"},
		{"one is forwarded in the middle", private.Servers, middle, "the function in the database gave IDs"},
		{"somebody else draws from a server that is shared", shared, middle, ""},
	} {
		count, err := c.servers.Answered(c.turn)(t.Context(), 50*time.Millisecond, bench.Unwatched)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, error %v; expected %q", c.what, count, err, c.want)
		}
	}
}
