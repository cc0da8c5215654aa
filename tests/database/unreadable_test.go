//go:build full

package database

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// failedOver returns a standby that was promoted right after its primary was migrated. Some versions of PostgreSQL
// cannot read the unlogged sequences then: sqlfuncs/mend_sequences.sql describes the bug. On a mended version this test
// writes the same zeros into the files.
func failedOver(t *testing.T) (cluster *postgres.Cluster, before []int64, said []string) {
	t.Helper()
	primary := server.Private(t, nil)
	url := primary.URL("postgres")
	standby := server.Standby(t, primary, "standby", fmt.Sprintf("host=127.0.0.1 port=%d", primary.Port), nil)
	conn := server.Connect(t, url)
	server.Eventually(t, conn, "EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')")
	up(t, url, migrations.Settings{Say: func(sentence string) { said = append(said, sentence) }})
	before = values[int64](t, conn, some)
	server.Eventually(t, conn, "(SELECT bool_and(replay_lsn >= pg_current_wal_lsn()) FROM pg_stat_replication)")
	server.Crash(t, primary)
	server.Promote(t, standby)
	conn = server.Connect(t, standby.URL("postgres"))
	if value[bool](t, conn, "SELECT EXISTS (SELECT FROM pgflurry.unreadable_sequences())") {
		return standby, before, said
	}
	t.Log("this PostgreSQL keeps unlogged sequences in a promotion; zeros are put into their files")
	return server.LoseSequences(t, standby), before, said
}

// definitions lists all properties of the unlogged sequences. Their replacements must have the same.
const definitions = `SELECT format('%s %s %s %s', c.relname, c.relowner::regrole, obj_description(c.oid, 'pg_class'),
		(q.seqtypid, q.seqstart, q.seqincrement, q.seqmax, q.seqmin, q.seqcache, q.seqcycle))
	|| coalesce((SELECT string_agg(format(' %s %s', a.grantee::regrole, a.privilege_type), ',' ORDER BY a::text)
		FROM aclexplode(c.relacl) AS a WHERE a.grantee <> c.relowner), '')
	FROM pg_class AS c JOIN pg_sequence AS q ON q.seqrelid = c.oid
	WHERE c.relnamespace = 'pgflurry'::regnamespace AND c.relpersistence = 'u' ORDER BY c.relname`

func TestAFunctionThatAFailoverBrokeWorksAfterMigrateUpAndNoIDComesTwice(t *testing.T) {
	t.Parallel()
	cluster, before, _ := failedOver(t)
	url := cluster.URL("postgres")
	conn := server.Connect(t, url)
	run(t, conn, "GRANT SELECT ON pgflurry.lane TO pg_monitor")
	as := values[string](t, conn, definitions)
	refused(t, conn, "XX000", "SELECT next_snowflake()")

	state, err := migrations.Status(within(t), url)
	if err != nil || len(state.Unreadable) != len(as) || state.InPlace() {
		t.Errorf("status says that these cannot be read: %q, in place %v (%v); there are %d",
			state.Unreadable, state.InPlace(), err, len(as))
	}

	drawn := drawMeanwhile(t, url, func() {
		var said []string
		up(t, url, migrations.Settings{Say: func(sentence string) { said = append(said, sentence) }})
		if text := strings.Join(said, "\n"); !strings.Contains(text, "made anew") || !strings.Contains(text, "lane") {
			t.Errorf("up says %q", text)
		}
	})
	// in the session whose cached plans refer to the old sequence
	all := append(drawn, values[int64](t, conn, some)...)
	ids := recorder.New("", 0)
	if err := ids.Add(append(before, all...)...); err != nil {
		t.Error(err)
	}
	if again := values[string](t, conn, definitions); fmt.Sprint(again) != fmt.Sprint(as) {
		t.Errorf("the sequences are\n%s\nand were\n%s", strings.Join(again, "\n"), strings.Join(as, "\n"))
	}
	if state, err := migrations.Status(within(t), url); err != nil || !state.InPlace() {
		t.Errorf("status afterwards: %+v, %v", state, err)
	}
}

// drawMeanwhile draws in several sessions, one ID after the other, while do runs. It goes on until each session has
// drawn some.
func drawMeanwhile(t *testing.T, url string, do func()) (drawn []int64) {
	t.Helper()
	var mu sync.Mutex
	var sessions sync.WaitGroup
	var done atomic.Bool
	for range 4 {
		conn := server.Connect(t, url)
		sessions.Go(func() {
			for mine := 0; mine < 1000; {
				var id int64
				mended := done.Load()
				err := conn.QueryRow(within(t), "SELECT next_snowflake()").Scan(&id)
				switch said := new(pgconn.PgError); {
				case err == nil:
					mine++
					mu.Lock()
					drawn = append(drawn, id)
					mu.Unlock()
				case !errors.As(err, &said) || said.Code != "XX000" || mended:
					t.Errorf("a draw: %v", err)
					return
				}
			}
		})
	}
	do()
	done.Store(true)
	sessions.Wait()
	return drawn
}

func TestAProxyMendsAFunctionThatAFailoverBroke(t *testing.T) {
	t.Parallel()
	cluster, before, _ := failedOver(t)
	url := cluster.URL("postgres")
	conn := server.Connect(t, url)
	refused(t, conn, "XX000", "SELECT next_snowflake()")
	lender := server.Role(t, url, "lender")
	run(t, conn, "CALL pgflurry.grant_lease('lender')")
	proxy := program.ServeUnleased(t, lender, "mender")
	proxy.Line("were made anew", "lane")
	ids := recorder.New("", 0)
	if err := ids.Add(append(before, values[int64](t, conn, some)...)...); err != nil {
		t.Error(err)
	}
}

func TestTwoThatMendAtOnceMakeEachSequenceOnce(t *testing.T) {
	t.Parallel()
	cluster, _, _ := failedOver(t)
	url := cluster.URL("postgres")
	conn, other := server.Connect(t, url), server.Connect(t, url)
	const mend = "SELECT count(*) FROM pgflurry.mend_sequences()"
	run(t, conn, "BEGIN")
	if value[int](t, conn, mend) == 0 {
		t.Error("the first one mended nothing")
	}
	if n := value[int](t, other, mend); n != 0 {
		t.Errorf("the second one mended %d sequences while the first was at it", n)
	}
	run(t, conn, "COMMIT")
	if n := value[int](t, other, mend); n != 0 {
		t.Errorf("the second one mended %d sequences again", n)
	}
	run(t, other, "SELECT next_snowflake()")
}

func TestMigrateUpSaysUntilWhenAFailoverWouldBreakTheFunction(t *testing.T) {
	t.Parallel()
	cluster, _, said := failedOver(t)
	conn := server.Connect(t, cluster.URL("postgres"))
	number := value[int](t, conn, "SELECT current_setting('server_version_num')::int")
	text := strings.Join(said, "\n")
	hasBug := number < 150019 || number/10000 == 16 && number < 160015 ||
		number/10000 == 17 && number < 170011 || number/10000 == 18 && number < 180005
	if hasBug != strings.Contains(text, "run CHECKPOINT on each standby") {
		t.Errorf("PostgreSQL %d: up says %q", number, text)
	}
}

func TestWithoutAStandbyMigrateUpSaysNothingOfThem(t *testing.T) {
	t.Parallel()
	cluster := server.Private(t, nil)
	up(t, cluster.URL("postgres"), migrations.Settings{Say: func(sentence string) { t.Errorf("up says %q", sentence) }})
}

func TestAfterACheckpointOnBothServersAFailoverLeavesTheFunctionWhole(t *testing.T) {
	t.Parallel()
	primary := server.Private(t, nil)
	url := primary.URL("postgres")
	standby := server.Standby(t, primary, "standby", fmt.Sprintf("host=127.0.0.1 port=%d", primary.Port), nil)
	conn := server.Connect(t, url)
	server.Eventually(t, conn, "EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')")
	up(t, url, migrations.Settings{}) // runs CHECKPOINT here
	server.Eventually(t, conn, "(SELECT bool_and(replay_lsn >= pg_current_wal_lsn()) FROM pg_stat_replication)")
	server.Exec(t, standby.URL("postgres"), "CHECKPOINT")
	server.Crash(t, primary)
	server.Promote(t, standby)
	run(t, server.Connect(t, standby.URL("postgres")), "SELECT next_snowflake()")
}
