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

// Targets are where clients go. Nobody goes to one that is empty.
type Targets struct {
	Owner       string   // of a role that may make a table; default Direct
	Direct      string   // several hosts, target_session_attrs=read-write
	HAProxy     string   // the primary, through HAProxy
	Proxies     []string // one each
	AllProxies  string   // several hosts
	IDDatabases []string // one each, of a proxy
	JDBC        bool     // JDBC programs, too: java and its driver are there
}

// Settings are how much the clients do. Zero means the default.
type Settings struct {
	Rate       int  // IDs a second that proxies and ID databases give in large draws, together: 40,000
	CountTwice bool // an ID that comes twice is counted, and fails nothing
}

const (
	// breath is how long a client of single draws rests between two.
	breath = 20 * time.Millisecond
	// fast and slow are how long a probe rests, during faults and between them.
	fast, slow = 25 * time.Millisecond, 250 * time.Millisecond
	// patience is that of a client with a statement. A probe has half of it.
	patience = 2 * time.Second
	// memory is how many bytes the recorder takes before it writes to files.
	memory = 512 << 20
)

// Load is the clients, and what they saw.
type Load struct {
	t       testing.TB
	targets Targets
	set     Settings

	ids     *recorder.Sources
	meter   *meter.Meter
	commits *meter.Commits
	kinds   sync.Map     // of IDs by kind of client: *atomic.Int64
	told    atomic.Int64 // IDs that came twice

	repeatedMu sync.Mutex
	repeated   []int64

	begun   time.Time
	ended   time.Time
	fast    atomic.Bool // a fault lasts
	ctx     context.Context
	stop    func()
	running sync.WaitGroup
}

// The groups of what is measured: what there is to measure, by probes that ask often and wait shortly, and how long
// programs were without it, which have the patience and the ways of applications.
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

// Start starts the clients and waits until each has succeeded. They end with the test, if not before.
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

// Mark begins a fault, as soon as each probe and each client has succeeded once more.
func (l *Load) Mark(kind string) {
	l.t.Helper()
	l.fast.Store(true)
	l.await(time.Now(), "before "+kind)
	l.meter.Mark(kind, time.Now())
}

// settling is how long all may take to be well again.
const settling = 2 * time.Minute

// Settled waits until each probe and each client succeeds again, ends the fault, and compares commits with the table.
// It returns how long services were away.
func (l *Load) Settled() (outages []meter.Outage) {
	l.t.Helper()
	l.await(time.Now(), "after the fault")
	l.compare(false)
	outages = l.meter.Settled(time.Now())
	l.fast.Store(false)
	return slices.DeleteFunc(outages, func(o meter.Outage) bool { return o.Group != services })
}

// await waits until all have succeeded since then.
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

// pause is how long a probe rests.
func (l *Load) pause() time.Duration {
	if l.fast.Load() {
		return fast
	}
	return slow
}

// pauseNew is that of probes with new connections, which cost PostgreSQL a process each.
func (l *Load) pauseNew() time.Duration { return 2 * l.pause() }

// hosts are the URLs of each host of a URL, without what chooses one of them.
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
