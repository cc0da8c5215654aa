package load

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/tests/support/meter"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// Targets are the addresses for clients. An empty one gets no clients.
type Targets struct {
	Owner       string   // of a role that may create a table; default Direct
	Direct      string   // several hosts, target_session_attrs=read-write
	HAProxy     string   // the primary, through HAProxy
	Proxies     []string // a URL for each
	AllProxies  string   // several hosts
	IDDatabases []string // a URL for each proxy
	JDBC        bool     // also run JDBC programs; java and the driver must be there
}

// Settings say how much the clients do. Zero means the default.
type Settings struct {
	Rate       int  // IDs a second in large draws, of proxies and ID databases together: 40,000
	CountTwice bool // count a duplicate without failing the test
}

const (
	// breath is the pause of a client of single draws.
	breath = 20 * time.Millisecond
	// fast and slow are the pauses of a probe, during faults and between them.
	fast, slow = 25 * time.Millisecond, 250 * time.Millisecond
	// patience is the longest wait of a client for a statement. A probe waits half as long.
	patience = 2 * time.Second
	// memory is the number of bytes that the recorder takes before it writes to files.
	memory = 512 << 20
)

// Load is the clients and their records.
type Load struct {
	t       testing.TB
	targets Targets
	set     Settings

	ids      *recorder.Sources
	meter    *meter.Meter
	commits  *meter.Commits
	kinds    sync.Map     // of IDs by kind of client: *atomic.Int64
	reported atomic.Int64 // duplicates

	repeatedMu sync.Mutex
	repeated   []int64

	begun   time.Time
	ended   time.Time
	fast    atomic.Bool // set while a fault lasts
	ctx     context.Context
	stop    func()
	running sync.WaitGroup
}

// The two groups of measurements. The first says when a service was there: its probes ask often and wait briefly. The
// second says how long a program was without it: its clients have the patience and the habits of applications.
const (
	services = "time without"
	clients  = "time that a client was without"
)

// The services whose outages are measured.
const (
	postgresql   = "PostgreSQL"
	haproxy      = "HAProxy"
	function     = "function"
	proxySession = "proxy, open session"
	proxyNew     = "proxy, new connection"
	anyProxy     = "any proxy"
	idSession    = "ID database, open session"
	idNew        = "ID database, new connection"
)

// The sources whose IDs are counted while PostgreSQL is away.
const (
	ofProxies     = "proxies"
	ofIDDatabases = "ID databases"
)

// Start starts the clients and waits until each has succeeded once. They end with the test at the latest.
func Start(t testing.TB, targets Targets, settings Settings) *Load {
	t.Helper()
	if targets.Owner == "" {
		targets.Owner = targets.Direct
	}
	if settings.Rate == 0 {
		settings.Rate = 40_000
	}
	l := &Load{
		t: t, targets: targets, set: settings,
		meter: meter.New(postgresql), commits: &meter.Commits{}, begun: time.Now(),
	}
	l.ids = recorder.NewSources(t.TempDir(), memory)
	l.makeTable()
	l.ctx, l.stop = context.WithCancel(context.Background())
	t.Cleanup(l.Stop)
	l.startWriters()
	l.startProbes()
	l.startDraws()
	l.startPrograms()
	l.await(l.begun, "at the start")
	return l
}

// Mark begins a fault, after each probe and each client has succeeded once more.
func (l *Load) Mark(kind string) {
	l.t.Helper()
	l.fast.Store(true)
	l.await(time.Now(), "before "+kind)
	l.meter.Mark(kind, time.Now())
}

// settling limits the time until all is well again.
const settling = 2 * time.Minute

// Settled waits until each probe and each client succeeds again. Then it ends the fault, and compares commits with the
// table. It returns the outages of the services.
func (l *Load) Settled() (outages []meter.Outage) {
	l.t.Helper()
	l.await(time.Now(), "after the fault")
	l.compare(false)
	outages = l.meter.Settled(time.Now())
	l.fast.Store(false)
	return slices.DeleteFunc(outages, func(o meter.Outage) bool { return o.Group != services })
}

// await waits until each has succeeded since a moment.
func (l *Load) await(since time.Time, when string) {
	l.t.Helper()
	for deadline := time.Now().Add(settling); ; {
		silent := l.meter.Silent(since)
		if len(silent) == 0 {
			return
		}
		if time.Now().After(deadline) {
			l.t.Errorf("%s: within %v nothing came from %s", when, settling, strings.Join(silent, ", "))
			return
		}
		server.Pause(l.ctx, fast)
	}
}

// Stop ends all clients and compares all commits with the table.
func (l *Load) Stop() {
	l.t.Helper()
	if l.ctx.Err() != nil {
		return
	}
	l.stop()
	l.running.Wait()
	l.ended = time.Now()
	l.compare(true)
	if err := l.ids.Close(); err != nil {
		l.t.Error(err)
	}
}

// pause returns the pause of a probe.
func (l *Load) pause() time.Duration {
	if l.fast.Load() {
		return fast
	}
	return slow
}

// pauseNew returns the pause of a probe that connects each time. Each connection costs PostgreSQL a process.
func (l *Load) pauseNew() time.Duration { return 2 * l.pause() }

// hosts returns a URL for each host of a URL, without the parameters that choose among hosts.
func hosts(t testing.TB, list string) (each []string) {
	t.Helper()
	u, err := url.Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Del("target_session_attrs")
	for host := range strings.SplitSeq(u.Host, ",") {
		one := *u
		one.Host, one.RawQuery = host, query.Encode()
		each = append(each, one.String())
	}
	return each
}
