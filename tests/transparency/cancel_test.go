package transparency

import (
	"encoding/binary"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/program"
	"pgflurry/tests/server"
)

// sleeps waits until a session named name runs its query: the database looks, so nothing here sleeps.
func sleeps(t *testing.T, conn *pgx.Conn, name string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), `DO $$ BEGIN
		FOR i IN 1..6000 LOOP
			PERFORM pg_stat_clear_snapshot();
			IF EXISTS (SELECT FROM pg_stat_activity WHERE application_name = '`+name+`' AND wait_event = 'PgSleep') THEN RETURN; END IF;
			PERFORM pg_sleep(0.01);
		END LOOP;
		RAISE 'session % does not sleep', '`+name+`';
	END $$`)
	if err != nil {
		t.Fatal(err)
	}
}

func TestPsqlCancelsItsQueryThroughTheProxy(t *testing.T) {
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	p := program.StartCommand(t, exec.Command("psql", at+"&application_name=cancelled", "-XAt", "-c", ours, "-c", "SELECT pg_sleep(600)"))
	sleeps(t, server.Connect(t, direct), "cancelled")
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 1 || strings.Count(p.Output(), "canceling statement due to user request") != 1 {
		t.Errorf("psql ended with %d and said\n%s", code, p.Output())
	}
}

func TestPgxCancelsItsQueryThroughTheProxyAndGoesOn(t *testing.T) {
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	look := server.Connect(t, direct)
	conn := server.Connect(t, at+"&application_name=cancelled")
	for range 3 {
		ended := make(chan error, 1)
		go func() {
			_, err := conn.Exec(t.Context(), "SELECT pg_sleep(600)")
			ended <- err
		}()
		sleeps(t, look, "cancelled")
		if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "57014") {
			t.Fatalf("the query ended with %v; expected 57014", err)
		}
		var id int64
		if err := conn.QueryRow(t.Context(), ours).Scan(&id); err != nil || id < firstLocalID {
			t.Fatalf("after its cancellation the session drew %d, %v", id, err)
		}
	}
}

// PostgreSQL 18 gives a key of 32 bytes to those who ask for protocol 3.2, older ones negotiate 3.0.
func TestTheKeyOfANewerProtocolCancels(t *testing.T) {
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	look := server.Connect(t, direct)
	u := parse(t, at)
	r := dial(t, u.Host)
	r.say(hello(version30+2, "user", "postgres", "database", u.Path[1:], "application_name", "newer"))
	r.until('Z')
	length := 8
	if one(t, look, "SELECT (current_setting('server_version_num')::int >= 180000)::text") == "true" {
		length = 4 + 32
	}
	if len(r.key) != length {
		t.Errorf("process and key have %d bytes; expected %d", len(r.key), length)
	}
	r.say(query("SELECT pg_sleep(600)"))
	sleeps(t, look, "newer")
	c := dial(t, u.Host)
	request := append(binary.BigEndian.AppendUint32(nil, uint32(8+len(r.key))), 4, 210, 22, 46)
	c.say(append(request, r.key...))
	if said := c.rest(); len(said) > 0 {
		t.Errorf("a CancelRequest is answered %q", said)
	}
	if got := strings.Join(r.until('Z'), ""); !strings.Contains(got, "57014") {
		t.Errorf("the query ended with %q; expected 57014", got)
	}
}

func TestACancelOfAnAnsweredStatementHurtsNothing(t *testing.T) {
	at, _ := through(t, server.Migrated(t))
	conn := server.Connect(t, at)
	for range 20 {
		if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		var id int64
		if err := conn.QueryRow(t.Context(), ours, pgx.QueryExecModeSimpleProtocol).Scan(&id); err != nil || id < firstLocalID {
			t.Fatalf("drew %d, %v", id, err)
		}
	}
}
