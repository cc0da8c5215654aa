package idserver

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/generator"
	"pgflurry/proxy/wire"
)

// BenchmarkOneBesideMany measures how long a client waits that wants an ID every one or two milliseconds. Meanwhile
// others draw 10,000 a statement in a loop, over real sockets, from a real generator. It reports percentiles of the
// waits, and the IDs of the others in millions a second. A worker has 4.1.
func BenchmarkOneBesideMany(b *testing.B) {
	for _, bulk := range []int{0, 1, 4, 8} {
		b.Run(fmt.Sprintf("%d others", bulk), func(b *testing.B) {
			v := testServer(b, realGenerator(b))
			var others []*session
			for range bulk {
				others = append(others, drawMany(b, v))
			}
			drawn := func() (n int64) {
				for _, s := range others {
					n += s.counts.ids.Load()
				}
				return n
			}
			x := newTalk(b, v)
			_ = x.conn.SetDeadline(time.Time{})
			one := wire.Encoded(&pgproto3.Query{String: "SELECT next_snowflake()"})
			var waits []time.Duration
			before, start := drawn(), time.Now()
			for b.Loop() {
				time.Sleep(time.Millisecond + rand.N(time.Millisecond))
				began := time.Now()
				if err := ask(x.conn, one); err != nil {
					b.Fatal(err)
				}
				waits = append(waits, time.Since(began))
			}
			b.ReportMetric(float64(drawn()-before)/time.Since(start).Seconds()/1e6, "others-M/s")
			slices.Sort(waits)
			for _, p := range []float64{50, 99, 99.9, 100} {
				wait := waits[int(float64(len(waits)-1)*p/100)]
				b.ReportMetric(float64(wait)/float64(time.Millisecond), fmt.Sprintf("p%v-ms", p))
			}
		})
	}
}

func realGenerator(t testing.TB) *generator.Generator {
	start := time.Now()
	layout := generator.DefaultLayout()
	g, err := generator.New(generator.Settings{
		Layout: layout, Now: func() int64 { return 1 + int64(time.Since(start)/time.Millisecond) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Grant(1, 0, layout.MaxTick()); err != nil {
		t.Fatal(err)
	}
	return g
}

// drawMany draws 10,000 a statement in a loop until the test ends.
func drawMany(t testing.TB, v *Server) *session {
	x := newTalk(t, v)
	_ = x.conn.SetDeadline(time.Time{})
	many := wire.Encoded(&pgproto3.Query{String: "SELECT * FROM next_snowflakes(10000)"})
	go func() {
		for ask(x.conn, many) == nil {
		}
	}()
	return x.s
}

// ask sends a Query and reads until a write ends like a ReadyForQuery.
func ask(conn net.Conn, query []byte) error {
	if _, err := conn.Write(query); err != nil {
		return err
	}
	ready := wire.AppendReady(nil, wire.StatusIdle)
	buf := make([]byte, 64<<10)
	for n := 0; ; {
		m, err := conn.Read(buf[n:])
		if err != nil {
			return err
		}
		if n += m; n >= len(ready) && string(buf[n-len(ready):n]) == string(ready) {
			return nil
		}
		n = copy(buf, buf[max(n-len(ready), 0):n])
	}
}

func TestWhoWaitsForIDsGetsThemInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTurns()
		if !x.free() || x.take(t.Context()) != nil {
			t.Fatal("the first one has to wait")
		}
		var order []int
		for i := range 5 {
			go func() {
				if err := x.take(t.Context()); err != nil {
					t.Error(err)
				}
				order = append(order, i)
				x.give()
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { gone <- x.take(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-gone; err != context.Canceled {
			t.Errorf("who goes away waits with %v; expected %v", err, context.Canceled)
		}
		if x.free() || len(order) > 0 {
			t.Errorf("free: %v, and %v had a turn; expected that they wait", x.free(), order)
		}
		x.give()
		synctest.Wait()
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) || !x.free() {
			t.Errorf("turns were given in the order %v, free: %v; expected as they came", order, x.free())
		}
	})
}
