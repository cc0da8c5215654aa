package regions

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/migrations"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

func TestTwoRegionsWithOneNumberGiveIDsTwiceAndOnlyCheckNotices(t *testing.T) {
	t.Parallel()
	first, space := founded(t, 3)
	second, wrong := further(t, space, 4), further(t, space, 3)
	if c := check(t, first, second); !c.MayCoexist {
		t.Errorf("two regions with two numbers: %+v", c)
	}
	if !comesTwice(t, first, wrong) { // the control: it shows that this package can see a duplicate
		t.Error("two functions with one worker give no ID twice")
	}
	c := check(t, first, second, wrong)
	if len(c.Collisions) != 1 || c.Collisions[0].Workers == nil || c.Collisions[0].Workers.From != 96 ||
		c.Collisions[0].Workers.To != 127 || c.Collisions[0].Databases[0] != 0 || c.Collisions[0].Databases[1] != 2 ||
		!strings.Contains(c.Collisions[0].Why, "both are region 3") {
		t.Errorf("check says %+v", c)
	}
	code, out, errs := run(t, "namespace", "check", first, second, wrong)
	if code != 3 || !strings.Contains(out, "collision: URL 1, ") ||
		!strings.Contains(out, "with workers 96 to 127: both are region 3") ||
		!strings.Contains(errs, "hint: Stop one") {
		t.Errorf("for people it says, with exit code %d:\n%s%s", code, out, errs)
	}
}

// comesTwice draws from several databases at once and says whether an ID came twice.
func comesTwice(t *testing.T, urls ...string) bool {
	t.Helper()
	ids, twice := recorder.New("", 0), new(recorder.Twice)
	ctx, found := context.WithCancelCause(server.Within(t))
	defer found(nil)
	var drawing sync.WaitGroup
	for _, url := range urls {
		conn := server.Connect(t, url)
		drawing.Go(func() {
			for ctx.Err() == nil {
				rows, err := conn.Query(ctx, "SELECT next_snowflakes(10000)")
				if err == nil {
					var got []int64
					if got, err = pgx.CollectRows(rows, pgx.RowTo[int64]); err == nil {
						err = ids.Add(got...)
					}
				}
				if err != nil {
					found(err)
				}
			}
		})
	}
	drawing.Wait()
	return errors.As(context.Cause(ctx), &twice)
}

func TestCheckKnowsWhoHasJoinedWhom(t *testing.T) {
	t.Parallel()
	home, space := founded(t, 3)
	joined, other := server.Database(t), further(t, space, 4)
	up(t, joined, migrations.Settings{JoinURL: home})
	if c := check(t, home, joined, other); !c.MayCoexist || len(c.Notes) > 0 {
		t.Errorf("a home, what has joined it, and another region: %+v", c)
	}
	if c := check(t, joined, other); !c.MayCoexist || len(c.Notes) != 1 {
		t.Errorf("without the home: %+v", c)
	}
	// as if the home had forgotten the worker
	server.Exec(t, home, "UPDATE pgflurry.worker SET released_at = now() WHERE worker = 97")
	c := check(t, home, joined, other)
	if len(c.Collisions) != 1 || c.Collisions[0].Workers == nil || c.Collisions[0].Workers.From != 97 ||
		!strings.Contains(c.Collisions[0].Why, "does not know that") {
		t.Errorf("with a home that has forgotten it: %+v", c)
	}
}

func TestCheckTellsIDSpacesCopiesAndTwoWaysToOneDatabaseApart(t *testing.T) {
	t.Parallel()
	home, _ := founded(t, 3)
	forgot := server.MigratedWith(t, migrations.Settings{Layout: "datacenter", Region: number(4)})
	c := check(t, home, forgot)
	if len(c.Collisions) != 1 || c.Collisions[0].Workers != nil ||
		!strings.Contains(c.Collisions[0].Why, "two ID spaces") ||
		!strings.Contains(c.Collisions[0].Hint, "--namespace FINGERPRINT") {
		t.Errorf("a region that was made without the fingerprint: %+v", c)
	}
	copied := server.TemplateCopy(t, home, "regions_copy")
	c = check(t, home, copied)
	if len(c.Collisions) != 1 || len(c.Collisions[0].Databases) != 1 ||
		!strings.Contains(c.Collisions[0].Why, "is a copy") {
		t.Errorf("a copy: %+v", c)
	}
	if c := check(t, home, home+"&application_name=again"); !c.MayCoexist || len(c.Notes) != 1 {
		t.Errorf("one database by two URLs: %+v", c)
	}
	if c := check(t, home); !c.MayCoexist {
		t.Errorf("one database alone: %+v", c)
	}
}

func TestCheckTellsAReplicaFromACloneThatWritesToo(t *testing.T) {
	t.Parallel()
	primary := server.Private(t, nil)
	server.Exec(t, primary.URL("postgres"), "CREATE DATABASE shop")
	up(t, primary.URL("shop"), migrations.Settings{Layout: "datacenter", Region: number(3)})
	standby := server.Standby(t, primary, "replica", "", nil)
	if c := check(t, primary.URL("shop"), standby.URL("shop")); !c.MayCoexist || len(c.Notes) != 1 {
		t.Errorf("a primary and its standby: %+v", c)
	}
	server.Promote(t, standby)
	c := check(t, primary.URL("shop"), standby.URL("shop"))
	if len(c.Collisions) != 1 || c.Collisions[0].Workers == nil || c.Collisions[0].Workers.From != 96 ||
		!strings.Contains(c.Collisions[0].Why, "copy of the files") {
		t.Errorf("two primaries of one database: %+v", c)
	}
}

func TestCheckEndsWithTheCodesOfItsHelp(t *testing.T) {
	t.Parallel()
	home, _ := founded(t, 3)
	empty := server.Database(t)
	role := server.Role(t, home, "regions_stranger")
	for name, c := range map[string]struct {
		urls []string
		code int
		says []string
	}{
		"none":              {nil, 2, []string{"no database was given"}},
		"no URL":            {[]string{home, "shop"}, 2, []string{"URL 2 is not a connection string"}},
		"nothing listens":   {[]string{home, "postgres://u@127.0.0.1:1/shop"}, 4, []string{"URL 2: cannot connect"}},
		"not migrated":      {[]string{home, empty}, 3, []string{"URL 2", "has no pgflurry namespace", "migrate up"}},
		"without the right": {[]string{role}, 1, []string{"may not read", "grant_lease"}},
	} {
		code, _, errs := run(t, append([]string{"namespace", "check"}, c.urls...)...)
		if code != c.code {
			t.Errorf("%s: exit code %d, expected %d: %s", name, code, c.code, errs)
		}
		for _, text := range c.says {
			if !strings.Contains(errs, text) {
				t.Errorf("%s: no %q in %s", name, text, errs)
			}
		}
	}
	server.Exec(t, home, "CALL pgflurry.grant_lease('regions_stranger')")
	if c := check(t, role); !c.MayCoexist {
		t.Errorf("a role that leases: %+v", c)
	}
}
