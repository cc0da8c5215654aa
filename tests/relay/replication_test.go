package relay

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/server"
)

// run runs a program to its end, or until the test's patience ends.
func run(t testing.TB, name string, arguments ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, name, arguments...)
	command.WaitDelay = time.Second
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, out)
	}
	return string(out)
}

// one returns a single text value.
func one(t testing.TB, conn *pgx.Conn, sql string) string {
	t.Helper()
	var value string
	if err := conn.QueryRow(t.Context(), sql, pgx.QueryExecModeSimpleProtocol).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func hostPort(t testing.TB, at string) []string {
	t.Helper()
	u := server.Parse(t, at)
	return []string{"-h", u.Hostname(), "-p", u.Port(), "-U", "postgres"}
}

func TestABaseBackupTakenThroughTheProxyStarts(t *testing.T) {
	t.Parallel()
	program := server.Tool(t, "pg_basebackup")
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	server.Exec(t, direct, "CREATE TABLE item AS SELECT generate_series(1, 100000) AS n")
	at, p := through(t, direct)
	backup := filepath.Join(filepath.Dir(cluster.Data), "backup")
	run(t, program, append(hostPort(t, at), "-D", backup, "-X", "stream", "-c", "fast", "--no-sync")...)
	if p.Stats().IDs != 0 || p.Stats().Opened < 2 {
		t.Errorf("the proxy saw %+v; expected the backup and its WAL stream, and no answer", p.Stats())
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if os.Geteuid() == 0 {
		run(t, "chown", "-R", "--reference", cluster.Data, backup)
	}
	copied, err := postgres.Start(ctx,
		postgres.Settings{Provider: postgres.Provider{Binaries: server.Binaries(t)}, Data: backup})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Stop(ctx)
	if n := one(t, server.Connect(t, copied.URL("postgres")), "SELECT count(*)::text FROM item"); n != "100000" {
		t.Errorf("the copy has %s rows; expected 100000", n)
	}
}

func TestWALReceivedThroughTheProxyIsTheServers(t *testing.T) {
	t.Parallel()
	program := server.Tool(t, "pg_receivewal")
	cluster := server.Private(t, nil)
	direct := cluster.URL("postgres")
	at, p := through(t, direct)
	conn := server.Connect(t, direct)
	into := t.TempDir()
	run(t, program, append(hostPort(t, at), "--create-slot", "--slot", "made")...)
	// keep all WAL from here on, to compare with
	one(t, conn, "SELECT lsn::text FROM pg_create_physical_replication_slot('flurry', true)")
	if made := one(t, conn, "SELECT count(*)::text FROM pg_replication_slots WHERE slot_name = 'made'"); made != "1" {
		t.Errorf("%s slots were made through the proxy; expected 1", made)
	}
	server.Exec(t, direct, "CREATE TABLE item AS SELECT generate_series(1, 200000) AS n")
	file := one(t, conn, "SELECT pg_walfile_name(pg_current_wal_lsn())")
	end := one(t, conn, "SELECT pg_switch_wal()::text")
	server.Exec(t, direct, "CREATE TABLE another ()")
	run(t, program,
		append(hostPort(t, at), "-D", into, "--slot", "flurry", "--endpos", end, "--no-loop", "--no-sync")...)
	files, err := os.ReadDir(into)
	if err != nil || len(files) == 0 {
		t.Fatalf("no WAL was received: %v", err)
	}
	compared := 0
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), ".partial")
		if name == file && name != f.Name() || name > file {
			continue // the file ends in the middle of the server's segment
		}
		got, err := os.ReadFile(filepath.Join(into, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Join(cluster.Data, "pg_wal", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("WAL file %s differs", name)
		}
		compared++
	}
	if compared == 0 {
		t.Errorf("no whole WAL file was received, of %v up to %s", files, file)
	}
	if st := p.Stats(); st.IDs != 0 || st.Opened == 0 {
		t.Errorf("the proxy saw %+v; expected sessions and no answer", st)
	}
}

func TestChangesDecodedThroughTheProxyAreTheServers(t *testing.T) {
	t.Parallel()
	program := server.Tool(t, "pg_recvlogical")
	direct := server.Migrated(t)
	at, p := through(t, direct)
	conn := server.Connect(t, direct)
	u := server.Parse(t, direct)
	slots := []string{"straight" + u.Path[1:], "proxied" + u.Path[1:]}
	for i, where := range []string{direct, at} {
		run(t, program, append(hostPort(t, where), "-d", u.Path[1:], "--create-slot", "--slot", slots[i],
			"--plugin", "test_decoding")...)
		t.Cleanup(func() { server.Exec(t, direct, fmt.Sprintf("SELECT pg_drop_replication_slot('%s')", slots[i])) })
	}
	server.Exec(t, direct, "CREATE TABLE item (id bigint DEFAULT next_snowflake(), n text)")
	server.Exec(t, direct,
		"INSERT INTO item (n) SELECT repeat('x', n) FROM generate_series(1, 2000) AS n; DELETE FROM item")
	end := one(t, conn, "SELECT pg_current_wal_insert_lsn()::text")
	server.Exec(t, direct, "SELECT pg_logical_emit_message(true, 'end', 'end')")
	var decoded []string
	for i, where := range []string{direct, at} {
		file := filepath.Join(t.TempDir(), "changes")
		run(t, program, append(hostPort(t, where), "-d", u.Path[1:], "--start", "--slot", slots[i], "--endpos", end,
			"--no-loop", "-f", file, "-o", "include-xids=0")...)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoded = append(decoded, string(content))
	}
	if n := strings.Count(decoded[0], "INSERT"); n < 2000 || decoded[0] != decoded[1] {
		t.Errorf("%d bytes of changes with %d inserts directly, %d bytes through the proxy; expected the same",
			len(decoded[0]), n, len(decoded[1]))
	}
	if st := p.Stats(); st.IDs != 0 {
		t.Errorf("a replication session was answered: %+v", st)
	}
}

// With the walsender of every version of PostgreSQL, whatever tools this machine has.
func TestARawWALStreamThroughTheProxyIsTheServers(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	at, p := through(t, direct)
	conn := server.Connect(t, direct)
	// The slot keeps the WAL, which other tests' checkpoints would recycle.
	server.Do(t, conn, "SELECT pg_create_physical_replication_slot('raw_stream', true, true)")
	from := one(t, conn, "SELECT pg_current_wal_flush_lsn()::text")
	server.Exec(t, direct, "CREATE TABLE item AS SELECT generate_series(1, 20000) AS n")
	const wanted = 1 << 20
	var streams [2][]byte
	for i, where := range []string{direct, at} {
		u := server.Parse(t, where)
		r := open(t, u.Host, u.Path[1:], "replication", "true")
		r.say(query(ours)) // a physical walsender cannot run SQL
		if reply := strings.Join(r.until('Z'), ""); !strings.Contains(reply, "C42601") &&
			!strings.Contains(reply, "C0A000") && !strings.Contains(reply, "C08P01") {
			t.Fatalf("a walsender was asked for an ID and said %q", reply)
		}
		r.say(query("START_REPLICATION PHYSICAL " + from))
		for len(streams[i]) < wanted {
			kind, body, err := r.frame()
			if err != nil {
				t.Fatal(err)
			}
			if kind == 'E' {
				t.Fatalf("START_REPLICATION: %q", body)
			}
			if kind == 'd' && body[0] == 'w' {
				streams[i] = append(streams[i], body[25:]...)
			}
		}
		// The client ends its direction, then the server does. The session goes on.
		status := append([]byte{'r'}, make([]byte, 8+8+8+8+1)...)
		r.say(encode(&pgproto3.CopyData{Data: status}, &pgproto3.CopyDone{},
			&pgproto3.Query{String: "IDENTIFY_SYSTEM"}))
		r.until('c')
		r.until('Z')
		if said := strings.Join(r.until('Z'), "|"); !strings.Contains(said, "|D") {
			t.Errorf("after the stream IDENTIFY_SYSTEM is answered %q", said)
		}
		r.conn.Close()
	}
	if !bytes.Equal(streams[0][:wanted], streams[1][:wanted]) {
		t.Error("the WAL differs")
	}
	if st := p.Stats(); st.IDs != 0 {
		t.Errorf("a replication session was answered: %+v", st)
	}
}
