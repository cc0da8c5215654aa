package unique

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/postgres"
	"pgflurry/migrations"
	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
	"pgflurry/tests/support/volume"
)

// A storm is several proxies and the function that draw from one namespace as fast as they can, while one fault follows
// another.
type storm struct {
	*room
	dice     *rand.Rand       // chooses the faults; each client has dice of its own
	balancer *network.Switch  // to the present primary; open connections stay where they are
	database *network.Link    // to the balancer
	through  string           // URL of the database over that network
	joined   string           // URL of another database of the ID space
	window   string           // flag of the proxies
	wanted   func(int64) bool // what a proxy's IDs must be like when a fault is over
	nodes    []*node
	pooler   string // URL of PgBouncer's console, if the first node's lease goes through one
	copies   int    // servers that were made so far

	// longest pause of a client after a statement: in a short storm the faults need the processor
	breath time.Duration
	ended  chan struct{} // closed to end the clients
	twice  chan error    // the recorder's error
	ids    atomic.Int64
	byKind [kinds]atomic.Int64
	broken atomic.Int64 // statements that ended with an error, and connections that failed

	outages outages
}

// A node is a place for proxies: when one has ended, the next one starts there.
type node struct {
	name  string
	lease *network.Link // to the lease database
	args  []string
	proxy *program.Proxy
	url   atomic.Pointer[string] // of the proxy that runs now
}

// enough ends an ordinary run.
var enough = volume.Of[int64](1_000_000, 10_000_000)

const (
	most   = 1_000_000_000 // ends a long run (PGFLURRY_TEST_STORM)
	memory = 1 << 30       // bytes that the recorder takes before it writes to files
)

func TestInAStormOfFaultsNoIDOfProxiesOrFunctionComesTwice(t *testing.T) {
	t.Parallel()
	s := newStorm(t, short)
	s.wanted = s.byProxy
	s.rage(troubles)
}

// rage starts the proxies and the clients, and lets each fault happen, again and again.
func (s *storm) rage(list []trouble) {
	t := s.t
	t.Helper()
	s.serve()
	var clients sync.WaitGroup
	s.clients(&clients)
	end := sync.OnceFunc(func() {
		close(s.ended)
		clients.Wait()
	})
	t.Cleanup(end)
	begin := time.Now()
	faults := 0
	for faults < len(list) || !s.over(time.Since(begin)) {
		for _, trouble := range s.shuffled(list) {
			at := time.Now()
			s.happen(trouble)
			t.Logf("%6.1f s  %-60s %6.1f s, %d IDs",
				time.Since(begin).Seconds(), trouble.what, time.Since(at).Seconds(), s.ids.Load())
			faults++
		}
	}
	end()
	s.judge(time.Since(begin), faults)
}

// over says whether the storm has drawn enough IDs, or lasted long enough.
func (s *storm) over(passed time.Duration) bool {
	long := server.Storm(s.t)
	if long == 0 {
		return s.ids.Load() >= enough
	}
	return passed > long || s.ids.Load() >= most
}

func newStorm(t *testing.T, window string) *storm {
	t.Helper()
	server.Binaries(t)
	cluster := server.Private(t, stormOptions)
	url := cluster.URL("postgres")
	// only six workers for proxies, so that they are taken over again and again
	server.Migrate(t, url, migrations.Settings{Layout: "41/0/3/12", DatabaseWorkers: functions})
	s := &storm{
		room: furnish(t, url), dice: newDice(), window: window,
		ended: make(chan struct{}), twice: make(chan error, 1),
	}
	if server.Storm(t) == 0 {
		s.breath = volume.Of(400*time.Millisecond, 60*time.Millisecond)
	}
	s.cluster = cluster
	s.all = recorder.New(t.TempDir(), memory)
	s.do(itemTable)
	s.balancer, s.through = network.Behind(t, url)
	s.database, s.through = network.To(t, s.through)
	return s
}

const itemTable = "CREATE UNLOGGED TABLE item (n int, id bigint DEFAULT next_snowflake())"

// serve starts the proxies.
func (s *storm) serve() {
	t := s.t
	t.Helper()
	const count = 3
	s.outages.seen = make([]atomic.Pointer[string], count)
	for i := range count {
		n := &node{name: fmt.Sprint("node ", i)}
		var lease string
		n.lease, lease = network.To(t, s.through)
		if i == 0 && os.Getenv("PGFLURRY_TEST_POOLER") == "1" {
			lease = server.Pooler(t, lease, 2, "admin_users = postgres",
				"server_login_retry = 1") // the default is 15 s after each outage
			s.pooler = server.In(t, lease, "pgbouncer")
		}
		n.args = append([]string{
			s.window, "--lease-database", lease, "--drain-timeout", "1s", "--id-database", "pgflurry",
		}, idLogins[i](s)...)
		s.nodes, s.outages.refused = append(s.nodes, n), append(s.outages.refused, make(chan struct{}, 1))
		s.start(n)
	}
}

var stormOptions = map[string]string{"max_wal_size": "256MB", "wal_sender_timeout": "10s", "wal_keep_size": "64MB"}

// start starts a node's next proxy and waits until it answers. Its ID database knows then who may log in, and goes on
// while PostgreSQL is away.
func (s *storm) start(n *node) {
	s.t.Helper()
	n.proxy = program.ServeUnleased(s.t, s.through, n.name, n.args...)
	n.url.Store(&n.proxy.URL)
	n.proxy.Leased()
	s.drawInsideAgain(n)
}

func newDice() *rand.Rand { return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())) }

// Workers of functions: that of the database, and of one that has joined.
const (
	joined    = 1
	functions = 2
)

// byProxy says whether an ID is of a proxy's worker.
func (s *storm) byProxy(id int64) bool { return s.workerOf(id) >= functions }

func (s *storm) anyNode() *node { return s.nodes[s.dice.IntN(len(s.nodes))] }

func (s *storm) shuffled(list []trouble) []trouble {
	list = append([]trouble(nil), list...)
	s.dice.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// happen lets a fault happen. It returns when every proxy and the function give IDs again.
func (s *storm) happen(trouble trouble) {
	s.t.Helper()
	trouble.happen(s)
	s.everybody()
	s.draw(s.conn, 1)
	s.do("TRUNCATE item")
	select {
	case err := <-s.twice:
		s.t.Fatalf("after %q: %v", trouble.what, err)
	default:
	}
}

// everybody waits until every proxy gives IDs as wanted, and its ID database gives IDs.
func (s *storm) everybody() {
	s.t.Helper()
	for _, n := range s.nodes {
		conn := s.again(*n.url.Load())
		s.drawUntil(conn, s.wanted)
		conn.Close(context.Background()) // a long storm has many faults
		s.drawInsideAgain(n)
	}
}

func (s *storm) judge(passed time.Duration, faults int) {
	s.t.Helper()
	select {
	case err := <-s.twice:
		s.t.Fatal(err)
	default:
	}
	total := s.all.Len()
	s.t.Logf("%d IDs in %v (%.0f a second) with %d faults, none twice: %d by proxies, %d by the function, %d of keys, "+
		"%d in ID databases, %d of them while PostgreSQL was away; %d statements or connections broken",
		total, passed.Round(time.Second), float64(total)/passed.Seconds(), faults,
		s.byKind[ofProxy].Load(), s.byKind[ofFunction].Load(), s.byKind[ofKeys].Load(),
		s.byKind[ofIDs].Load(), s.outages.given.Load(), s.broken.Load())
	if server.Storm(s.t) == 0 && total < enough {
		s.t.Errorf("only %d IDs, expected %d", total, enough)
	}
	for kind := range s.byKind {
		if s.byKind[kind].Load() < 1000 {
			s.t.Errorf("only %d IDs of kind %d: this proves little", s.byKind[kind].Load(), kind)
		}
	}
	if s.outages.given.Load() < 1000 {
		s.t.Errorf("only %d IDs while PostgreSQL was away: this proves little", s.outages.given.Load())
	}
	if s.broken.Load() == 0 {
		s.t.Error("nothing was broken off, so the faults were none")
	}
	if err := s.all.Close(); err != nil {
		s.t.Error(err)
	}
}

// drawMany draws n IDs from the function in one statement, which must succeed, and records them.
func (s *storm) drawMany(n int) {
	s.t.Helper()
	s.note(ask[[]int64](s.room, "SELECT array_agg(next_snowflake()) FROM generate_series(1, $1)", n)...)
}

// primary makes a cluster the server of the room and of the clients.
func (s *storm) primary(cluster *postgres.Cluster) {
	s.t.Helper()
	s.cluster = cluster
	s.switchTo(cluster.URL("postgres"))
	s.balancer.Lead(fmt.Sprint("127.0.0.1:", cluster.Port))
	s.database.Lead(s.balancer.Address())
}
