package primary

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/internal/logs"
	"pgflurry/internal/report"
)

const (
	usualPause = time.Second
	// hurry divides the pause while there is no primary.
	hurry = 5
	// patience is how long the first choice waits for hosts that have not answered yet. A former primary may answer
	// first.
	patience = time.Second
)

// A Server is one host and the way to ask it. One goroutine uses it.
type Server struct {
	Name string // for people
	// Ask asks the host. It must have a time limit of its own.
	Ask func(context.Context) (Answer, error)
	// Close is called after the last question.
	Close func()
}

// Settings of a Watch.
type Settings struct {
	// Servers are listed in the order of preference. Required.
	Servers []Server
	// Pause between two questions to a host; 1 s if zero.
	Pause time.Duration
	// Now reads a monotonic clock, and Wall the wall clock. Required.
	Now  func() time.Duration
	Wall func() time.Time
	// Log is required.
	Log *slog.Logger
}

// A Primary is a host, for the time that it is the primary.
type Primary struct {
	Host     int
	Timeline int64
	Since    time.Time
	Over     context.Context // ends when it is not the primary any more
}

// A Watch finds out which host is the primary. Its methods are safe for concurrent use.
type Watch struct {
	settings Settings

	mu       sync.Mutex
	topology *topology
	primary  *Primary           // nil: there is none
	end      context.CancelFunc // ends its time
	found    int                // primaries, one after the other
	changed  chan struct{}      // closed and replaced at a change of the primary, and when the first may be chosen
	heard    []time.Time        // the last answer of each host; zero: none
	reported []logs.Reminder
	none     logs.Reminder
}

// New makes a Watch. It asks nothing before Run.
func New(s Settings) *Watch {
	if s.Pause == 0 {
		s.Pause = usualPause
	}
	w := &Watch{
		settings: s, topology: newTopology(s.Servers), changed: make(chan struct{}),
		heard: make([]time.Time, len(s.Servers)), reported: make([]logs.Reminder, len(s.Servers)),
		none: logs.Reminder{Every: logs.RemindEvery},
	}
	for i := range w.reported {
		w.reported[i].Every = logs.RemindEvery
	}
	return w
}

// Run asks the hosts until ctx ends. The time of the last primary does not end with ctx.
func (w *Watch) Run(ctx context.Context) {
	var asking sync.WaitGroup
	defer asking.Wait()
	for i := range w.settings.Servers {
		asking.Go(func() { w.ask(ctx, i) })
	}
	asking.Go(func() {
		if connect.Sleep(ctx, patience, nil); ctx.Err() == nil {
			w.learn(func() change { return w.topology.settle() })
		}
	})
}

// ask asks one host again and again. A host that hangs delays no other.
func (w *Watch) ask(ctx context.Context, host int) {
	server := w.settings.Servers[host]
	defer server.Close()
	for {
		a, err := server.Ask(ctx)
		if ctx.Err() != nil {
			return
		}
		w.learn(func() change {
			if err != nil {
				return w.topology.isSilent(host, err.Error())
			}
			w.heard[host] = w.settings.Wall()
			return w.topology.answers(host, a)
		})
		w.rest(ctx)
		if ctx.Err() != nil {
			return
		}
	}
}

// rest pauses before the next question. A change ends the pause, but never before a fifth of Settings.Pause. So two
// hosts that contradict each other are not asked without a pause.
func (w *Watch) rest(ctx context.Context) {
	shortest := w.settings.Pause / hurry
	connect.Sleep(ctx, connect.About(shortest), nil)
	w.mu.Lock()
	found, changed := w.primary != nil, w.changed
	w.mu.Unlock()
	if found {
		connect.Sleep(ctx, w.settings.Pause-shortest, changed)
	}
}

// learn processes an answer of a host, or its silence.
func (w *Watch) learn(hear func() change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	settled := w.topology.settled
	c := hear()
	if c.ended != nil {
		w.end()
		w.primary = nil
	}
	if c.begun != nil {
		over, end := context.WithCancel(context.Background())
		w.found++
		w.end = end
		w.primary = &Primary{Host: c.begun.host, Timeline: c.begun.timeline, Since: w.settings.Wall(), Over: over}
	}
	if c != (change{}) || settled != w.topology.settled {
		close(w.changed)
		w.changed = make(chan struct{})
	}
	w.report(c)
}

// report logs each change at once, and a lasting problem from time to time.
func (w *Watch) report(c change) {
	log, hosts, now := w.settings.Log, w.topology.hosts, w.settings.Now()
	switch {
	case c.begun != nil && c.ended != nil:
		log.Warn("upstream has another primary: sessions of the former one are ended",
			"primary", hosts[c.begun.host].name, "timeline", c.begun.timeline, "former", hosts[c.ended.host].name,
			"cause", c.why)
	case c.begun != nil:
		log.Info("upstream primary found", "primary", hosts[c.begun.host].name, "timeline", c.begun.timeline)
	case c.ended != nil:
		log.Warn("upstream has no primary any more: its sessions are ended", "former", hosts[c.ended.host].name,
			"cause", c.why)
	}
	if s := w.topology; w.primary != nil || !s.settled {
		w.none.Right("")
	} else if due, lasted := w.none.Wrong("none", now); due {
		log.Warn("no upstream host is the primary: new sessions are refused",
			append([]any{"hosts", s.all()}, logs.Fields(lasted)...)...)
	}
	for i := range hosts {
		w.reportHost(i, now)
	}
}

func (w *Watch) reportHost(i int, now time.Duration) {
	s, r := w.topology, &w.reported[i]
	if s.hosts[i].word == unasked {
		return
	}
	says := s.says(i)
	what, advice := s.trouble(i)
	if what == "" {
		if r.Right(says) {
			w.settings.Log.Info("upstream host", "host", s.hosts[i].name, "says", says)
		}
		return
	}
	due, lasted := r.Wrong(what+says, now)
	if !due {
		return
	}
	level := slog.LevelWarn
	if s.hosts[i].word == foreign {
		level = slog.LevelError
	}
	fields := []any{"host", s.hosts[i].name, "cause", says}
	if advice != "" {
		fields = append(fields, "hint", advice)
	}
	w.settings.Log.Log(context.Background(), level, what, append(fields, logs.Fields(lasted)...)...)
}

var errNone = errors.New("no upstream host is the primary")

// Primary returns the present primary. Before the first one it waits until all hosts have answered, or the time for
// that (patience) is over. If there is none, it fails, and the error has each host's last answer.
func (w *Watch) Primary(ctx context.Context) (Primary, error) {
	for {
		w.mu.Lock()
		now, settled, changed, said := w.primary, w.topology.settled, w.changed, ""
		if now == nil && settled {
			said = w.topology.all()
		}
		w.mu.Unlock()
		switch {
		case now != nil:
			return *now, nil
		case settled:
			return Primary{}, fmt.Errorf("%w: %s", errNone, said)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Primary{}, fmt.Errorf("%w: they were not heard yet", errNone)
		}
	}
}

// Changed is closed at the next change.
func (w *Watch) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// State is what operators see of the hosts, and of the present primary. It waits for nobody.
func (w *Watch) State() report.Upstreams {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := report.Upstreams{Found: int64(w.found), Hosts: make([]report.UpstreamHost, len(w.settings.Servers))}
	for i, server := range w.settings.Servers {
		trouble, _ := w.topology.trouble(i)
		s.Hosts[i] = report.UpstreamHost{
			Name: server.Name, Says: w.topology.says(i), Trouble: trouble, Heard: w.heard[i],
		}
	}
	if w.primary != nil {
		s.Since, s.Hosts[w.primary.Host].Primary = w.primary.Since, true
	}
	return s
}
