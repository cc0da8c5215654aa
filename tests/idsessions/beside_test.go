package idsessions

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// BenchmarkOneBesideMany measures how long a client waits that wants an ID every one or two milliseconds, while others
// draw many in a loop. It does so on both paths: through the relay, and in the ID database. It reports percentiles of
// the waits, and how many statements the relay forwarded for want of IDs. It also reports the IDs of the others in
// millions a second; a worker has 4.1.
func BenchmarkOneBesideMany(b *testing.B) {
	direct := server.Migrated(b)
	p := program.Serve(b, direct, "beside", "--id-database", idDatabase, "--id-auth", "trust",
		"--admin-listen", "127.0.0.1:0")
	admin := program.Field(p.Line("listening for operators"), "address")
	single := encoded(&pgproto3.Query{String: "SELECT next_snowflake()"})
	for _, path := range []struct{ name, url string }{
		{"relay", p.URL}, {"ID database", "postgres://shop@" + p.Address + "/" + idDatabase},
	} {
		for _, load := range []struct{ clients, ids int }{{0, 0}, {8, 10_000}, {32, 100_000}} {
			b.Run(fmt.Sprintf("%s beside %d clients of %d", path.name, load.clients, load.ids), func(b *testing.B) {
				var others atomic.Int64
				declined := declinedBy(b, admin)
				for range load.clients {
					drawMany(b, path.url, load.ids, &others)
				}
				conn := speak(b, path.url)
				var waits []time.Duration
				drawn, began := others.Load(), time.Now()
				for b.Loop() {
					time.Sleep(time.Millisecond + rand.N(time.Millisecond))
					asked := time.Now()
					if err := ask(conn, single, make([]byte, 1<<10)); err != nil {
						b.Fatal(err)
					}
					waits = append(waits, time.Since(asked))
				}
				b.ReportMetric(float64(others.Load()-drawn)/time.Since(began).Seconds()/1e6, "others-M/s")
				b.ReportMetric(declinedBy(b, admin)-declined, "declined")
				slices.Sort(waits)
				for _, p := range []float64{50, 99, 99.9} {
					wait := waits[int(float64(len(waits)-1)*p/100)]
					b.ReportMetric(float64(wait)/float64(time.Millisecond), fmt.Sprintf("p%v-ms", p))
				}
			})
		}
	}
}

// drawMany draws so many IDs a batch in a loop, 10,000 a statement, until the benchmark ends.
func drawMany(b *testing.B, url string, ids int, drawn *atomic.Int64) {
	conn := speak(b, url)
	var batch []byte
	for range ids / 10_000 {
		batch = append(batch, encoded(
			&pgproto3.Parse{Query: "SELECT * FROM next_snowflakes(10000)"}, &pgproto3.Bind{}, &pgproto3.Execute{})...)
	}
	batch = append(batch, encoded(&pgproto3.Sync{})...)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for buf := make([]byte, 64<<10); ask(conn, batch, buf) == nil; {
			drawn.Add(int64(ids))
		}
	}()
	b.Cleanup(func() {
		conn.Close()
		<-ended
	})
}

// speak logs in and returns the connection.
func speak(b *testing.B, url string) net.Conn {
	b.Helper()
	conn, err := pgconn.Connect(server.Within(b), url)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := conn.Hijack()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { raw.Conn.Close() })
	_ = raw.Conn.SetDeadline(time.Time{})
	return raw.Conn
}

func encoded(messages ...pgproto3.FrontendMessage) (out []byte) {
	for _, m := range messages {
		out, _ = m.Encode(out)
	}
	return out
}

// ask sends messages and reads until a read ends like a ReadyForQuery.
func ask(conn net.Conn, messages, buf []byte) error {
	if _, err := conn.Write(messages); err != nil {
		return err
	}
	ready := []byte("Z\x00\x00\x00\x05I")
	for n := 0; ; {
		m, err := conn.Read(buf[n:])
		if err != nil {
			return err
		}
		if n += m; bytes.HasSuffix(buf[:n], ready) {
			return nil
		}
		n = copy(buf, buf[max(n-len(ready), 0):n])
	}
}

var declinedLine = regexp.MustCompile(`(?m)^pgflurry_declined_total\{[^}]*\} (\S+)$`)

// declinedBy returns how many statements the proxy has forwarded because no IDs were there for them.
func declinedBy(b *testing.B, admin string) (sum float64) {
	b.Helper()
	answer, err := http.Get("http://" + admin + "/metrics")
	if err != nil {
		b.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.Fatal(err)
	}
	for _, found := range declinedLine.FindAllSubmatch(body, -1) {
		n, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += n
	}
	return sum
}
