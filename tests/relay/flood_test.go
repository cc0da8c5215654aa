package relay

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

	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// look is the pause of a write that has to wait. After each pause it checks whether the other side refuses it.
const look = 20 * time.Millisecond

// push writes until everything is written or the other side takes no more. It returns the rest.
func push(t *testing.T, conn *net.TCPConn, b []byte) (rest []byte, err error) {
	for rest = b; len(rest) > 0; {
		if err := conn.SetWriteDeadline(time.Now().Add(look)); err != nil {
			return rest, err
		}
		n, err := conn.Write(rest[:min(len(rest), 64<<10)])
		rest = rest[n:]
		switch {
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
			return rest, err
		case n == 0 && refused(t, conn):
			return rest, nil
		}
	}
	return nil, nil
}

// flood writes everything, and does not read before it has written all or the other side takes no more. Then it reads
// while it writes the rest. It returns the number of messages of each kind, and a digest without the parts that differ
// between two sessions.
func flood(t *testing.T, at string, said []byte, readies int) (counts map[byte]int, digest string) {
	t.Helper()
	r := openURL(t, at)
	defer r.conn.Close()
	rest, err := push(t, r.conn, said)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := r.conn.Write(rest)
		done <- err
	}()
	h := sha256.New()
	counts = map[byte]int{}
	for counts['Z'] < readies {
		kind, body, err := r.frame()
		if err != nil {
			t.Fatalf("after %v: %v", counts, err)
		}
		counts[kind]++
		if kind == 'Z' && counts[kind]%10_000 == 0 { // patience is for hung servers, not for slow machines
			_ = r.conn.SetDeadline(time.Now().Add(patience))
		}
		if kind == 'D' && len(body) > 10 {
			body = []byte("an ID") // 15 digits or more
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
	t.Parallel()
	statements := volume.Of(10_000, 100_000)
	direct := server.Migrated(t)
	at, p := through(t, direct)
	sync := encode(&pgproto3.Sync{})
	const million = 1_000_000 // every day, too: the kernel's buffers take all of the others
	mixed := append(bytes.Repeat(append(execute(ours, false), execute("SELECT 1", false)...), 25), sync...)
	for _, c := range []struct {
		name    string
		said    []byte
		readies int
		least   int // least number of IDs from memory
	}{
		{"Queries, all of them ours", bytes.Repeat(query(ours), statements), statements, statements},
		{"requests, all of them ours", bytes.Repeat(execute(ours, true), statements), statements, statements},
		{
			"requests, ours and others by turns",
			bytes.Repeat(append(execute(ours, true), execute("SELECT 1", true)...), statements/2), statements, 1,
		},
		{"batches of fifty, ours and others by turns", bytes.Repeat(mixed, statements/50), statements / 50, 0},
		{
			"Queries of others, now and then ours",
			bytes.Repeat(append(bytes.Repeat(query("SELECT 1"), 9), query(ours)...), statements/10), statements, 0,
		},
		{"requests of others in a single batch", append(bytes.Repeat(execute("", false), statements), sync...), 1, 0},
		{"a million empty Queries", bytes.Repeat(query(""), million), million, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := p.Stats().IDs
			want, wantDigest := flood(t, direct, c.said, c.readies)
			got, gotDigest := flood(t, at, c.said, c.readies)
			if fmt.Sprint(want) != fmt.Sprint(got) || wantDigest != gotDigest {
				t.Errorf("PostgreSQL sent %v, the proxy %v; digests %.8s, %.8s", want, got, wantDigest, gotDigest)
			}
			if n := p.Stats().IDs - before; n < int64(c.least) {
				t.Errorf("%d IDs came from memory; expected %d or more", n, c.least)
			}
		})
	}
}

// The other direction: a short request with a long result. The client does not read it while the server is blocked.
func TestAResultThatNobodyReadsHoldsUpOnlyItsOwnSession(t *testing.T) {
	t.Parallel()
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	u := server.Parse(t, at)
	deaf := open(t, u.Host, u.Path[1:], "application_name", "deaf")
	deaf.say(slices.Concat(query("SELECT repeat('x', 1000000) FROM generate_series(1, 100)"), query(ours)))
	blocked(t, direct, "deaf", 1)
	other := openURL(t, at)
	for range 100 {
		other.say(query(ours))
		other.until('Z')
	}
	if rows := len(deaf.until('Z')); rows != 103 { // 100 rows, RowDescription, CommandComplete, ReadyForQuery
		t.Errorf("%d messages came; expected 103", rows)
	}
	deaf.until('Z')
}

// blocked waits until n sessions with this name wait until their client reads.
func blocked(t *testing.T, direct, name string, sessions int) {
	t.Helper()
	server.Eventually(t, server.Connect(t, direct), fmt.Sprintf(
		"(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = '%s' "+
			"AND wait_event = 'ClientWrite') = %d", name, sessions))
}
