package tests

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
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

// origins are those whose layout is exact. Nobody else can run Discord's: docs/from-another-generator.md has IDs of it.
var origins = []origin{
	{"bwmarrin", "twitter", snowflake.Epoch, bwmarrin},
	{"Twitter", "datacenter", twitterEpoch, func(*testing.T, string) []process {
		return []process{twitter(0).process(), twitter(1<<5 | 2).process()} // datacenter 1, worker 2
	}},
	{"Leaf", "twitter", twitterEpoch, func(*testing.T, string) []process {
		return []process{leaf(0).process(), leaf(619).process()}
	}},
	{"Instagram", "40/0/13/10", 1314220021721, instagram},
	{"TSID", "twitter", tsidEpoch, func(*testing.T, string) []process {
		return []process{tsid(0).process(), tsid(421).process()}
	}},
}

const (
	twitterEpoch = 1288834974657 // and Leaf's
	tsidEpoch    = 1577836800000
)

// settings give a namespace the layout of the origin. The numbers of these processes are foreign.
func (o origin) settings(beside ...process) migrations.Settings {
	s := migrations.Settings{Layout: o.layout, Epoch: time.UnixMilli(o.epoch)}
	if len(beside) > 0 {
		s.Foreign = new(namespace.Ranges)
	}
	for _, p := range beside { // the lowest comes first
		*s.Foreign = append(*s.Foreign, namespace.Range{Lowest: p.worker, Highest: p.worker})
	}
	return s
}

// repeated makes a process of what gives one ID.
func repeated(worker int, next func() (int64, error)) process {
	return process{worker, func(n int) (ids []int64, err error) {
		for len(ids) < n && err == nil {
			var id int64
			id, err = next()
			ids = append(ids, id)
		}
		return ids, err
	}}
}

func bwmarrin(t *testing.T, _ string) (all []process) {
	for _, number := range []int{0, 991} {
		node, err := snowflake.NewNode(int64(number))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, repeated(number, func() (int64, error) { return node.Generate().Int64(), nil }))
	}
	return all
}

// A published generator does what the source of its origin says: Twitter's IdWorker.scala of 2010, Leaf's
// SnowflakeIDGenImpl.java, and tsid-creator's TsidFactory.java. All three are programs for the JVM.
type published struct {
	epoch, worker  int64
	now            func() int64 // milliseconds since 1970
	first          func() int64 // sequence of the first ID of a tick
	ahead          bool         // a full tick, or a clock that went back, makes it run ahead of the clock
	last, sequence int64
}

// twitter returns a generator with the number datacenter × 32 + worker.
func twitter(number int64) *published {
	began := time.Now()
	monotonic := func() int64 { return began.Add(time.Since(began)).UnixMilli() }
	return &published{epoch: twitterEpoch, worker: number, now: monotonic, first: func() int64 { return 0 }}
}

func leaf(number int64) *published {
	g := twitter(number)
	g.first = func() int64 { return rand.Int64N(100) }
	return g
}

func tsid(number int64) *published {
	g := twitter(number)
	g.epoch, g.ahead, g.first = tsidEpoch, true, func() int64 { return rand.Int64N(4096) }
	return g
}

func (g *published) next() (int64, error) {
	now := g.now()
	switch {
	case now > g.last:
		g.sequence = g.first()
	case g.ahead:
		g.sequence++
		now = g.last + g.sequence>>12
		g.sequence &= 4095
	case now < g.last:
		return 0, fmt.Errorf("the clock moved back by %d ms", g.last-now)
	default:
		if g.sequence = (g.sequence + 1) & 4095; g.sequence == 0 {
			g.sequence = g.first()
			for now <= g.last {
				now = g.now()
			}
		}
	}
	g.last = now
	return (now-g.epoch)<<22 | g.worker<<12 | g.sequence, nil
}

func (g *published) process() process { return repeated(int(g.worker), g.next) }

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
