package relay

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/proxytest"
	"pgflurry/tests/support/server"
)

func TestPsqlCancelsItsQueryThroughTheProxy(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	proxytest.PsqlCancels(t, at, direct)
}

func TestPgxCancelsItsQueryThroughTheProxyAndGoesOn(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	proxytest.PgxCancels(t, at, direct)
}

// PostgreSQL 18 gives a key of 32 bytes to a client that asks for protocol 3.2. Older versions negotiate 3.0.
func TestTheKeyOfANewerProtocolCancels(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	look := server.Connect(t, direct)
	u := server.Parse(t, at)
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
	server.Sleeps(t, look, "newer")
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
	t.Parallel()
	at, _ := through(t, server.Migrated(t))
	conn := server.Connect(t, at)
	for range 20 {
		if err := conn.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		var id int64
		if err := conn.QueryRow(t.Context(), ours, pgx.QueryExecModeSimpleProtocol).Scan(&id); err != nil ||
			id < proxytest.FirstID {
			t.Fatalf("drew %d, %v", id, err)
		}
	}
}
