package transparency

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/tests/server"
)

// stuckAfter is how long a write makes no progress before the client counts as blocked and begins to read.
const stuckAfter = 500 * time.Millisecond

// flood says everything and reads nothing until all is said or the other side takes no more; then it reads while it says the
// rest. It returns how many messages of each kind came, and a digest of all but what differs between two sessions.
func flood(t *testing.T, at string, said []byte, readies int) (counts map[byte]int, digest string) {
	t.Helper()
	r := openURL(t, at)
	defer r.conn.Close()
	stuck, done := make(chan struct{}), make(chan error, 1)
	go func() {
		rest, blocked := said, false
		for len(rest) > 0 {
			limit := time.Now().Add(patience)
			if !blocked {
				limit = time.Now().Add(stuckAfter)
			}
			_ = r.conn.SetWriteDeadline(limit)
			n, err := r.conn.Write(rest[:min(len(rest), 64<<10)])
			rest = rest[n:]
			if errors.Is(err, os.ErrDeadlineExceeded) && !blocked {
				if n == 0 {
					blocked = true
					close(stuck)
				}
				continue
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	select {
	case <-stuck:
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
		done <- nil
	}
	h := sha256.New()
	counts = map[byte]int{}
	for counts['Z'] < readies {
		kind, body, err := r.frame()
		if err != nil {
			t.Fatalf("after %v: %v", counts, err)
		}
		counts[kind]++
		if kind == 'D' && len(body) > 10 {
			body = []byte("an ID") // of 15 digits and more
		}
		h.Write(append([]byte{kind}, body...))
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return counts, hex.EncodeToString(h.Sum(nil))
}

func execute(sql string, sync bool) []byte {
	b := encode(&pgproto3.Parse{Query: sql}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{})
	if sync {
		b = append(b, encode(&pgproto3.Sync{})...)
	}
	return b
}

func TestAClientThatPipelines100000StatementsAndReadsNothingIsServedAsByPostgreSQL(t *testing.T) {
	const statements = 100_000
	direct := server.Migrated(t)
	at, p := through(t, direct)
	for _, c := range []struct {
		name    string
		breath  []byte
		count   int // statements in a breath
		readies int // of a breath
		least   int // IDs that must come from memory
	}{
		{"Queries, all of them ours", query(ours), 1, 1, statements},
		{"units, all of them ours", execute(ours, true), 1, 1, statements},
		{"a segment of fifty, ours and others by turns", append(bytes.Repeat(append(execute(ours, false), execute("SELECT 1", false)...), 25), encode(&pgproto3.Sync{})...), 50, 1, 1},
		{"Queries of others, now and then ours", append(bytes.Repeat(query("SELECT 1"), 9), query(ours)...), 10, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			said := bytes.Repeat(c.breath, statements/c.count)
			readies := statements / c.count * c.readies
			before := p.Stats().IDs
			want, wantDigest := flood(t, direct, said, readies)
			got, gotDigest := flood(t, at, said, readies)
			if fmt.Sprint(want) != fmt.Sprint(got) || wantDigest != gotDigest {
				t.Errorf("PostgreSQL sent %v, the proxy %v; digests %.8s, %.8s", want, got, wantDigest, gotDigest)
			}
			if n := p.Stats().IDs - before; n < int64(c.least) {
				t.Errorf("%d IDs came from memory; expected %d or more", n, c.least)
			}
		})
	}
}

// The other way round: the client says little and the server much, which the client does not read for as long as the server
// is blocked.
func TestAResultThatNobodyReadsHoldsUpOnlyItsOwnSession(t *testing.T) {
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	u := parse(t, at)
	deaf := open(t, u.Host, u.Path[1:], "application_name", "deaf")
	deaf.say(slices.Concat(query("SELECT repeat('x', 1000000) FROM generate_series(1, 100)"), query(ours)))
	blocked(t, direct, "deaf", 1)
	other := openURL(t, at)
	for range 100 {
		other.say(query(ours))
		other.until('Z')
	}
	if rows := len(deaf.until('Z')); rows != 103 { // with RowDescription, CommandComplete, ReadyForQuery
		t.Errorf("%d messages came; expected 103", rows)
	}
	deaf.until('Z')
}

// blocked waits until that many sessions of a name wait for their client to read.
func blocked(t *testing.T, direct, name string, sessions int) {
	t.Helper()
	server.Exec(t, direct, fmt.Sprintf(`DO $$ BEGIN
		FOR i IN 1..2000 LOOP
			PERFORM pg_stat_clear_snapshot();
			IF (SELECT count(*) FROM pg_stat_activity WHERE application_name = '%s' AND wait_event = 'ClientWrite') = %d THEN RETURN; END IF;
			PERFORM pg_sleep(0.01);
		END LOOP;
		RAISE 'not all sessions wait for their client to read';
	END $$`, name, sessions))
}

// drown writes until the other side takes no more, and returns how much it took.
func drown(t *testing.T, conn net.Conn, b []byte) (taken int) {
	t.Helper()
	for len(b) > 0 {
		if err := conn.SetWriteDeadline(time.Now().Add(stuckAfter)); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Write(b[:min(len(b), 64<<10)])
		taken += n
		b = b[n:]
		if err != nil && n == 0 {
			return taken
		}
	}
	return taken
}
