package relay

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestSessionsOfAPausedPrimaryEndWhenAnotherIsPromotedAndNoneGoesThereWhenItWakes(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	proxy := p.serve(p.both(), "--upstream-primary")
	leadsTo(t, proxy.URL, p.primary)
	quiet, busy := server.Connect(t, proxy.URL), server.Connect(t, proxy.URL)
	server.Do(t, busy, "CREATE TABLE written (by text)")
	server.Do(t, busy, "BEGIN")
	server.Do(t, busy, "INSERT INTO written VALUES ('the former primary')")

	wake := p.failOver()
	proxy.Line("upstream has another primary", fmt.Sprint("primary=", at(p.standby)), "timeline=2")
	for doing, conn := range map[string]*pgx.Conn{"idle": quiet, "in a transaction": busy} {
		if ended := ends(t, conn); ended.Code != "57P01" || ended.Severity != "FATAL" {
			t.Errorf("a session that is %s ended with %v", doing, ended)
		}
	}
	leadsTo(t, proxy.URL, p.standby)

	wake()
	proxy.Line("on a timeline that is over", fmt.Sprint("host=", at(p.primary)))
	leadsTo(t, proxy.URL, p.standby)
	former := server.Connect(t, p.primary.URL("postgres"))
	server.Eventually(t, former, "NOT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'idle in transaction')")
	if n := server.Value[int](t, former, "SELECT count(*) FROM written"); n != 0 {
		t.Errorf("%d rows were written by a session that had ended", n)
	}
}

func TestAfterAFailoverCallsAreAnsweredAndPermissionIsThatOfTheNewPrimary(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	proxy := p.serve(p.both(), "--upstream-primary")
	const worker = "SELECT snowflake_worker(next_snowflake())"
	// The first window is 5 s, and a failover may take longer. Then PostgreSQL answers until the lease is renewed.
	server.Eventually(t, server.Connect(t, p.primary.URL("postgres")), "EXISTS (SELECT FROM pgflurry.worker "+
		"WHERE node = 'n' AND reserved_until - pgflurry.ticks(clock_timestamp()) > 10000)")
	before := server.Value[int64](t, server.Connect(t, proxy.URL), "SELECT next_snowflake()")

	server.Crash(t, p.primary)
	p.promote()
	proxy.Line("upstream has another primary")
	conn := server.Connect(t, proxy.URL)
	after := server.Value[int64](t, conn, "SELECT next_snowflake()")
	if by := after >> 12 & 1023; by != before>>12&1023 {
		t.Errorf("an ID is of worker %d after the failover, and was of %d before", by, before>>12&1023)
	}

	from := proxy.Printed()
	server.Exec(t, p.standby.URL("postgres"), "REVOKE EXECUTE ON FUNCTION next_snowflake() FROM PUBLIC")
	proxy.LineFrom(from, "calls are relayed to PostgreSQL")
	if by := server.Value[int64](t, conn, worker); by != 0 {
		t.Errorf("an ID is of worker %d where calls must not be answered; expected the function's, 0", by)
	}
}

func TestWithoutAPrimarySessionsAreRefusedUntilOneIsPromoted(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	proxy := program.ServeUnleased(t, p.primary.URL("postgres"), "n", "--upstream-primary",
		"--upstream", at(p.standby))
	refusedWith(t, proxy.URL, "57P03")
	proxy.Line("no upstream host is the primary", at(p.standby)+": standby")
	p.promote()
	proxy.Line("upstream primary found")
	leadsTo(t, proxy.URL, p.standby)
}

func TestAPrimaryThatOnlyHangsKeepsItsSessionsAndIDsGoOn(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	proxy := p.serve(p.both(), "--upstream-primary")
	conn := server.Connect(t, proxy.URL)
	before := server.Value[int64](t, conn, "SELECT next_snowflake()")
	wake := server.Freeze(t, p.primary)
	if after := server.Value[int64](t, conn, "SELECT next_snowflake()"); after <= before {
		t.Errorf("ID %d behind %d", after, before)
	}
	proxy.Line("does not say whether it is the primary", fmt.Sprint("host=", at(p.primary)))
	wake()
	if port := server.Value[int](t, conn, "SELECT inet_server_port()"); port != p.primary.Port {
		t.Errorf("the session is at port %d", port)
	}
}

func TestAServerOfAnotherClusterIsNeverChosenAndTheLogSaysSo(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	stranger := server.Private(t, nil)
	proxy := p.serve(p.both()+","+at(stranger), "--upstream-primary")
	proxy.Line("level=ERROR", "of another cluster", fmt.Sprint("host=", at(stranger)))
	leadsTo(t, proxy.URL, p.primary)
	server.Crash(t, p.primary)
	refusedWith(t, proxy.URL, "57P03")
	p.promote()
	proxy.Line("upstream has another primary")
	leadsTo(t, proxy.URL, p.standby)
}

func TestADatabaseThatIsGoneHidesThePrimaryFromNobody(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	server.Exec(t, p.primary.URL("postgres"), "CREATE DATABASE closed ALLOW_CONNECTIONS false")
	server.Exec(t, p.primary.URL("postgres"), "CREATE DATABASE other")
	proxy := program.ServeUnleased(t, p.primary.URL("postgres"), "n", "--upstream", p.both(),
		"--upstream-primary", "--databases", "gone,closed,other")
	proxy.Line("upstream primary found")
	leadsTo(t, proxy.URL, p.primary)
	server.Crash(t, p.primary)
	p.promote()
	proxy.Line("upstream has another primary")
	leadsTo(t, proxy.URL, p.standby)
}

func TestAPoolerInFrontOfEachServerIsAskedInItsPlace(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	one, two := server.Pooler(t, p.primary.URL("postgres"), 10), server.Pooler(t, p.standby.URL("postgres"), 10)
	proxy := p.serve(server.Parse(t, two).Host+","+server.Parse(t, one).Host, "--upstream-primary")
	leadsTo(t, proxy.URL+"&default_query_exec_mode=exec", p.primary)
	server.Crash(t, p.primary)
	p.promote()
	proxy.Line("upstream has another primary")
	leadsTo(t, proxy.URL+"&default_query_exec_mode=exec", p.standby)
}
