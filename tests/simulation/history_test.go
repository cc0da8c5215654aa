package simulation

import (
	"fmt"
	"slices"
	"time"

	"pgflurry/tests/support/rows"
)

// world says what may happen in a history, and so what must hold in it.
type world struct {
	steps     bool // the database's clock is set, forward or back, by any amount
	failovers bool
	acked     bool // … that lose acknowledged commits: the standby is asynchronous
	told      bool // the servers report their WAL timelines
	offset    int  // how far the clocks of two servers may differ, in ticks
	restores  bool
	modelled  bool // only what tests/model/lease.pml has, and every step of it is recorded
}

const (
	skew       = 500
	quarantine = 7000 // the least that the namespace's CHECK allows: max_window + 2 * skew
	workers    = 4    // most rows for proxies
)

// history is several processes and one table, from the first step to the last.
type history struct {
	world
	name   string
	choose func(what string, low, high int) int
	broken func(format string, args ...any) // reports a broken invariant; does not return

	real      time.Duration
	offset    time.Duration // of the database's clock
	table     *rows.Table
	commits   []commit
	written   int     // number of the last commit
	durable   int     // number of commits that the synchronous standby has
	jitter    float64 // of each keeper's pauses, in [0, 1)
	processes []*process
	tombs     []*process // ended in good order
	inFlight  []*write   // nobody waits for them, and they will still arrive
	olds      []server   // former primaries, as they were when another one took their place
	since     int        // number of commits when the present primary became it
	moments   []moment
	lives     int
	timelines int

	ids     map[int64]*tenure
	tenures [][]*tenure     // by worker
	lost    map[string]bool // owners who lost a commit
	twice   func(what string, one, other *tenure)

	drawn, acquisitions, renewals, unknowns, failed, forgot, takeovers int
}

// commit is the table after a commit, and its owner.
type commit struct {
	number int // no other commit has it, on whatever server
	table  rows.Table
	owner  string
}

// tenure is everything that clean acknowledgements granted to one acquisition.
type tenure struct {
	life, worker int
	owner        string
	from, until  int64
}

func newHistory(w world, choose func(string, int, int) int, broken func(string, ...any)) *history {
	h := &history{
		world: w, name: name, choose: choose, broken: broken, real: time.Hour, jitter: 0.5,
		ids: map[int64]*tenure{}, lost: map[string]bool{}, tenures: make([][]*tenure, workers+1),
	}
	h.twice = func(what string, one, other *tenure) { h.broken("%s: %+v and %+v", what, *one, *other) }
	h.table = &rows.Table{
		Settings: rows.Settings{
			Namespace: name, MaxWindow: window.Milliseconds(), Skew: skew, Quarantine: quarantine,
			RestartQuarantine: rows.Usual, End: 1 << layout.TimestampBits, Unit: 1000,
		},
		Oids: "here", Born: true, Generation: 1, Joins: true,
		Rows: make([]rows.Row, 1+choose("workers", 1, w.most())),
	}
	h.table.Rows[0].Kept = true
	h.newTimeline()
	h.table.Timeline = h.table.Server
	h.tick()
	h.commit("")
	h.durable = len(h.commits)
	for i := range choose("nodes", 1, 4) {
		h.processes = append(h.processes, h.start(fmt.Sprint("node ", i)))
	}
	return h
}

// most is the largest number of rows for proxies.
func (w world) most() int {
	if w.modelled {
		return 1
	}
	return workers
}

// end ends all processes, and leaves no goroutine.
func (h *history) end() {
	for _, p := range slices.Concat(h.processes, h.tombs) {
		p.kill()
	}
}

func (h *history) newTimeline() {
	if h.timelines++; h.told {
		h.table.Server = fmt.Sprintf("%08X", h.timelines)
	}
}

func (h *history) tick() { h.table.Now = (h.real + h.offset).Milliseconds() }

func (h *history) pass(d time.Duration) {
	h.real += d
	h.tick()
	for _, p := range h.processes {
		if !p.frozen {
			p.monotonic += d * time.Duration(p.rate) / 1000
		}
	}
}

func (h *history) commit(owner string) {
	h.written++
	h.commits = append(h.commits, commit{number: h.written, table: h.table.Clone(), owner: owner})
	if last := len(h.commits) - 2; last >= 0 {
		for i, r := range h.table.Rows {
			if before := h.commits[last].table.Rows[i].Mark; r.Mark < before {
				h.broken("invariant 4: the mark of worker %d fell from %d to %d", i, before, r.Mark)
			}
		}
	}
}

func (h *history) run(steps int) {
	for range steps {
		h.step()
	}
}

// step lets one thing happen.
func (h *history) step() {
	p := h.processes[h.choose("process", 0, len(h.processes)-1)]
	what := h.choose("what", 0, 59)
	if h.modelled && (what == 39 || what > 40) { // operators, and databases that are closed
		what = 0
	}
	switch what {
	default:
		h.act(p)
	case 20, 21, 22, 23, 24, 25:
		for _, p := range h.processes {
			if !p.paused {
				p.draw(h.choose("how many", 1, 6))
			}
		}
	case 26, 27:
		times := []time.Duration{
			time.Millisecond, 300 * time.Millisecond, 2 * time.Second, 9 * time.Second, 30 * time.Second,
		}
		h.pass(times[h.choose("time", 0, 4)])
	case 28, 29:
		h.land()
	case 30, 31:
		p.paused = !p.paused
	case 32:
		p.frozen = !p.frozen
	case 33:
		h.replace(p)
	case 34, 35:
		h.setClock()
	case 36:
		h.restart()
	case 37:
		h.failover()
	case 38:
		h.restore()
	case 39:
		h.operate()
	case 40:
		h.failback()
	case 41:
		h.close()
	case 42, 43, 44, 45:
		h.open()
	}
	for _, p := range h.tombs {
		p.draw(1)
	}
}

// act lets a process go on: its wait ends, or its write meets its fate.
func (h *history) act(p *process) {
	switch {
	case p.paused:
	case p.now.wait > 0:
		h.pass(p.now.wait * 1000 / time.Duration(p.rate))
		h.pass(time.Millisecond)
		p.goOn(reply{})
	case p.now.write != nil:
		h.fate(p, p.now.write)
	default: // it has ended in good order
		h.processes[slices.Index(h.processes, p)] = h.start(p.name)
	}
}

func (h *history) land() {
	if len(h.inFlight) > 0 {
		i := h.choose("late write", 0, len(h.inFlight)-1)
		w := h.inFlight[i]
		h.inFlight = slices.Delete(h.inFlight, i, i+1)
		h.apply(w, h.choose("replicated", 0, 1) == 1)
	}
}

// replace ends a life, in good order or not. The next life has the same name.
func (h *history) replace(p *process) {
	switch {
	case p.now.ended():
	case h.choose("in order", 0, 1) == 1 && !p.paused && !p.over:
		p.finish()
	default:
		p.kill()
		h.processes[slices.Index(h.processes, p)] = h.start(p.name)
	}
}

// issued compares an ID with all others and with the grants.
func (h *history) issued(p *process, id int64) {
	h.drawn++
	if id <= p.last {
		h.broken("life %d drew %d after %d", p.life, id, p.last)
	}
	p.last = id
	parts, err := layout.Decode(id)
	must(err)
	for _, t := range p.tenures {
		if t.worker == parts.Worker && parts.Tick >= t.from && parts.Tick < t.until {
			if before := h.ids[id]; before != nil {
				h.twice(fmt.Sprintf("invariant 1: ID %d came twice", id), before, t)
			}
			h.ids[id] = t
			h.note(moment{what: draws, life: p.life, tick: parts.Tick})
			return
		}
	}
	h.broken("invariant 2: life %d drew %+v, which no acknowledged grant holds", p.life, parts)
}

// granted records a clean acknowledgement when it reaches the process.
func (h *history) granted(p *process, w *write) {
	var t *tenure
	switch {
	case w.acquire != nil && w.clean[4] != nil:
		h.acquisitions++
		t = &tenure{
			life: p.life, owner: w.owner, worker: int(w.clean[4].(int64)), from: w.clean[6].(int64),
			until: w.clean[7].(int64),
		}
		p.tenures = append(p.tenures, t)
		if before := h.tenures[t.worker]; len(before) > 0 && before[len(before)-1].life != p.life {
			h.takeovers++
		}
		h.tenures[t.worker] = append(h.tenures[t.worker], t)
	case w.renew != nil && w.clean[3] != nil:
		h.renewals++
		if t = p.tenure(w.renew.Worker); t == nil || t.owner != w.owner {
			h.broken("life %d renews worker %d, which it has not", p.life, w.renew.Worker)
		}
		t.until = w.clean[3].(int64)
	default:
		return
	}
	p.revoked = false
	for _, other := range h.tenures[t.worker] {
		if other != t && other.from < t.until && t.from < other.until {
			h.twice("invariant 3: two grants of one tick", t, other)
		}
	}
}
