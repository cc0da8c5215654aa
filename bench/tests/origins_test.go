package tests

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"

	"pgflurry/internal/namespace"
	"pgflurry/migrations"
	"pgflurry/tests/support/server"
)

// An origin is a generator that gave a table its IDs before pgflurry, and goes on beside it.
type origin struct {
	name, layout string
	epoch        int64 // milliseconds since 1970
	processes    func(t *testing.T, url string) []process
}

// A process is one of a generator's. It gives n IDs with its own number.
type process struct {
	worker int
	draw   func(n int) ([]int64, error)
}

// origins are those that can run here as they were published. docs/from-another-generator.md has IDs of the others.
var origins = []origin{
	{"bwmarrin", "twitter", snowflake.Epoch, bwmarrin}, {"Instagram", "40/0/13/10", 1314220021721, instagram},
}

// settings give a namespace the layout of the origin. The numbers of these processes are foreign.
func (o origin) settings(beside ...process) migrations.Settings {
	s := migrations.Settings{Layout: o.layout, Epoch: time.UnixMilli(o.epoch), Foreign: new(namespace.Ranges)}
	for _, p := range beside { // the lowest comes first
		*s.Foreign = append(*s.Foreign, namespace.Range{Lowest: p.worker, Highest: p.worker})
	}
	return s
}

func bwmarrin(t *testing.T, _ string) (all []process) {
	for _, number := range []int{0, 991} {
		node, err := snowflake.NewNode(int64(number))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, process{number, func(n int) (ids []int64, _ error) {
			for range n {
				ids = append(ids, node.Generate().Int64())
			}
			return ids, nil
		}})
	}
	return all
}

//go:embed sql/instagram.sql
var instagramSQL string

// instagram makes the published function for two shards, each with a session. Several sessions of one shard could give
// an ID twice themselves: between sequence and clock of one, another may draw 1024 numbers.
func instagram(t *testing.T, url string) (all []process) {
	for _, shard := range []int{0, 5} {
		conn := server.Connect(t, url)
		server.Do(t, conn, strings.NewReplacer("insta5", fmt.Sprint("insta", shard),
			"shard_id int := 5", fmt.Sprint("shard_id int := ", shard)).Replace(instagramSQL))
		query := fmt.Sprintf("SELECT insta%d.next_id() FROM generate_series(1, $1)", shard)
		all = append(all, process{shard, func(n int) ([]int64, error) { return list(t.Context(), conn, query, n) }})
	}
	return all
}
