package tests

import (
	_ "embed" // the SQL
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/jackc/pgx/v5"

	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// An old generator gave a table its IDs before pgflurry, and goes on beside it. One process has number 0.
type old struct {
	layout string
	epoch  int64 // milliseconds since 1970
	number int   // of its other process
	start  func(t *testing.T, url string, number int) draw
}

// draw gives n IDs.
type draw func(n int) ([]int64, error)

// olds run here as they were published. docs/from-another-generator.md has IDs of others.
var olds = map[string]old{
	"bwmarrin": {"twitter", snowflake.Epoch, 991, func(t *testing.T, _ string, number int) draw {
		node, err := snowflake.NewNode(int64(number))
		if err != nil {
			t.Fatal(err)
		}
		return func(n int) (ids []int64, _ error) {
			for range n {
				ids = append(ids, node.Generate().Int64())
			}
			return ids, nil
		}
	}},
	// Several sessions of a shard could give an ID twice themselves: between sequence and clock of one, another may
	// draw 1024 numbers.
	"Instagram": {"40/0/13/10", 1314220021721, 5, func(t *testing.T, url string, number int) draw {
		server.Exec(t, url, strings.NewReplacer("insta5", fmt.Sprint("insta", number),
			"shard_id int := 5", fmt.Sprint("shard_id int := ", number)).Replace(instagramSQL))
		return drawing(t, url, fmt.Sprintf("SELECT insta%d.next_id() FROM generate_series(1, $1)", number))
	}},
}

//go:embed sql/instagram.sql
var instagramSQL string

// drawing draws by a query, on a connection of its own.
func drawing(t *testing.T, url, query string) draw {
	conn := server.Connect(t, url)
	return func(n int) ([]int64, error) {
		rows, _ := conn.Query(t.Context(), query, n)
		return pgx.CollectRows(rows, pgx.RowTo[int64])
	}
}

// filling returns a function that draws a part of a tick, and inserts it. The table's key compares all IDs.
func filling(t *testing.T, url, source string, worker int, draw draw) func() {
	conn := server.Connect(t, url)
	return func() {
		ids, err := draw(1000)
		if err == nil {
			_, err = conn.CopyFrom(t.Context(), pgx.Identifier{"item"}, []string{"id", "source", "worker"},
				pgx.CopyFromSlice(len(ids), func(i int) ([]any, error) { return []any{ids[i], source, worker}, nil }))
		}
		if err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
}

func TestNoIDComesTwiceWhileAnOldGeneratorAndPgflurryFillOneTable(t *testing.T) {
	t.Parallel()
	for name, o := range olds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := server.Database(t)
			server.Migrate(t, url, migrations.Settings{
				Layout: o.layout, Epoch: time.UnixMilli(o.epoch),
				Foreign: &namespace.Ranges{{}, {Lowest: o.number, Highest: o.number}},
			})
			server.Exec(t, url, `CREATE TABLE item (
				id bigint PRIMARY KEY DEFAULT next_snowflake(), source text NOT NULL, worker integer NOT NULL)`)
			through := program.Serve(t, url, "beside", "--id-database", "ids", "--id-auth", "trust")
			conn, filler := server.Connect(t, url), server.Connect(t, url)
			// A new function is a second ahead of the clock, where the others are not.
			server.Do(t, conn, "SELECT next_snowflake()")
			server.Eventually(t, conn, "snowflake_time((SELECT last_value FROM pgflurry.lane)) < clock_timestamp()")
			begun := time.Now()
			function := server.Value[int](t, conn, "SELECT function_worker FROM pgflurry.namespace")
			proxy := server.Value[int](t, conn,
				"SELECT worker FROM pgflurry.worker WHERE kind = 'proxy' AND term > 0")
			const ids = "SELECT * FROM next_snowflakes($1)"
			fillTogether([]func(){
				filling(t, url, "old 0", 0, o.start(t, url, 0)),
				filling(t, url, "old other", o.number, o.start(t, url, o.number)),
			}, []func(){
				func() {
					if _, err := filler.Exec(t.Context(), "INSERT INTO item (source, worker) "+
						"SELECT 'DEFAULT', $1 FROM generate_series(1, 1000)", function); err != nil {
						t.Error(err)
					}
				},
				filling(t, url, "function", function, drawing(t, url, ids)),
				filling(t, url, "proxy", proxy, drawing(t, through.URL, ids)),
				filling(t, url, "proxy", proxy, drawing(t, through.URL, ids)),
				filling(t, url, "ID database", proxy, drawing(t, server.In(t, through.URL, "ids"), ids)),
			})
			// A proxy's clock is behind by a part of a round trip, and a function may be ahead of the clock.
			if n := server.Value[int](t, conn, `SELECT count(*) FROM item WHERE snowflake_worker(id) <> worker OR
				snowflake_time(id) NOT BETWEEN $1::timestamptz - interval '10 s'
				AND clock_timestamp() + interval '10 s'`, begun); n > 0 {
				t.Errorf("%d IDs do not have the worker and the time of their source", n)
			}
			if n := server.Value[int](t, conn, "SELECT count(DISTINCT source) FROM item"); n != 6 {
				t.Errorf("%d sources gave IDs; expected 6", n)
			}
		})
	}
}

// fillTogether calls each of the new ones 20 times, and the old ones as long, and a little longer at both ends.
func fillTogether(old, young []func()) {
	var olds, youngs sync.WaitGroup
	done := make(chan struct{})
	for _, fill := range old {
		fill()
		olds.Go(func() {
			for ended := false; !ended; fill() {
				select {
				case <-done:
					ended = true
				default:
				}
			}
		})
	}
	for _, fill := range young {
		youngs.Go(func() {
			for range 20 {
				fill()
			}
		})
	}
	youngs.Wait()
	close(done)
	olds.Wait()
}
