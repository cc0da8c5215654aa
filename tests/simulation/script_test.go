package simulation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A script is a history as steps of tests/model/lease.pml: each moment is a line for Spin, with what must be true after
// it.
//
// The model has less than a history, which is projected. Statement and answer are one step: a process that waits for an
// answer does nothing that depends on it. One tick is watched, so draws of others are left out. So is each write that
// was refused or rolled back before it reached the table. A standby that has the commits up to the one that a failover
// keeps has copied them then.
type script struct {
	world string
	lines []line
	watch int64 // the tick

	processes map[int]int    // by life: their number in the model
	owners    map[string]int // number of the acquisition
	commits   map[int]int    // number of the line that made it
	changed   int            // line of the last change of the primary; 0: none
}

// line is a moment, and the steps of the model for it.
type line struct {
	says  string
	steps []string
}

// newScript writes a script, in which the draws of one tick are. The world says which clock the model has: that of the
// database, or real time.
func newScript(w world, moments []moment, watch int64) *script {
	s := &script{
		world: "SYNCHRONOUS", lines: []line{{says: "the history begins", steps: []string{"server[1].noted == 1"}}},
		watch: watch, processes: map[int]int{}, owners: map[string]int{}, commits: map[int]int{},
	}
	if w.acked {
		s.world = "ASYNCHRONOUS"
	}
	for _, m := range moments {
		s.add(m)
	}
	return s
}

// nearest returns the drawn tick that is nearest to the end of its process's grant.
func nearest(moments []moment) (tick int64) {
	until, least := map[int]int64{}, int64(1)<<41
	for _, m := range moments {
		switch w := m.write; {
		case m.what == draws && until[m.life]-m.tick < least:
			tick, least = m.tick, until[m.life]-m.tick
		case w == nil || !w.heard:
		case w.acquire != nil && w.clean[4] != nil:
			until[m.life] = w.clean[7].(int64)
		case w.renew != nil && w.clean[3] != nil:
			until[m.life] = w.clean[3].(int64)
		}
	}
	return tick
}

func (s *script) asynchronous() bool { return s.world == "ASYNCHRONOUS" }

// add adds a moment, unless the model has nothing for it.
func (s *script) add(m moment) {
	steps := s.steps(m)
	if steps == nil {
		return
	}
	number := len(s.lines)
	now := m.clock
	if s.asynchronous() {
		now = m.real
	}
	steps = append([]string{call("begin", number, now)}, steps...)
	steps = append(steps, call("expect", m.row.Mark, s.owners[m.row.Owner], m.row.Term, m.row.Released, m.row.Renewed,
		m.opens, timeline(m.noted), timeline(m.history)))
	s.lines = append(s.lines, line{says: m.String(), steps: steps})
	switch {
	case m.what == writes:
		s.commits[m.commit] = number
	case m.what >= promotes:
		s.changed = number
	}
}

func (s *script) steps(m moment) []string {
	switch m.what {
	case writes:
		return s.statement(m.write)
	case seals:
		if number, holds := s.processes[m.life]; holds {
			return []string{happens("SEAL", number)}
		}
	case draws:
		if m.tick == s.watch {
			return []string{happens("ISSUE", s.process(m.life))}
		}
	case restarts:
		return []string{happens("RESTART", "N")}
	case failsBack:
		return []string{happens("FAIL_BACK", "N")}
	case promotes:
		return append(s.follows(m), happens("PROMOTE", "N"))
	case startsAlone:
		return append(s.follows(m), happens("START_ALONE", "N"))
	}
	return nil
}

// statement returns the step for a write.
func (s *script) statement(w *write) []string {
	switch {
	case w.acquire != nil:
		by := any("N - 1") // does nothing but ask
		if w.clean[4] != nil {
			s.owners[w.owner] = len(s.owners) + 1
			if w.heard {
				by = s.process(w.life)
			}
		}
		return []string{
			call("asks", 0, 0, 0, min(w.acquire.Window, window.Milliseconds()), 0, w.heard), happens("ACQUIRE", by),
		}
	case w.renew != nil:
		n := w.renew
		asks := call("asks", s.owners[n.Owner], n.Term, n.Acknowledged, min(n.Window, window.Milliseconds()), n.Wanted,
			w.heard)
		if w.late {
			return []string{asks, happens("LATE", "N")}
		}
		return []string{s.knows(w.life, n.Owner, n.Term, n.Acknowledged), asks, happens("RENEW", s.process(w.life))}
	default:
		n := w.release
		return []string{s.knows(w.life, n.Owner, n.Term, n.Acknowledged), happens("RELEASE", s.process(w.life))}
	}
}

// knows returns a check that the process asks for what the model's process knows.
func (s *script) knows(life int, owner string, term, acknowledged int64) string {
	return call("knows", s.process(life), s.owners[owner], term, acknowledged)
}

// follows lets the other server have what the failover has kept, at the time when that was committed. It returns the
// steps before the failover itself.
func (s *script) follows(m moment) []string {
	copies := "COPY"
	if s.asynchronous() && s.changed > 0 {
		copies = "FOLLOW"
	}
	at := &s.lines[max(s.commits[m.commit], s.changed)]
	at.steps = append(at.steps, happens(copies, "N"))
	if !s.asynchronous() {
		return []string{}
	}
	return []string{call("clock_of_standby", m.clock-m.real)}
}

func (s *script) process(life int) int {
	if _, known := s.processes[life]; !known {
		s.processes[life] = len(s.processes)
	}
	return s.processes[life]
}

// text returns the program for Spin. It goes on with the model in this folder.
func (s *script) text(folder string) string {
	var b strings.Builder
	defined := map[string]any{
		s.world: 1, "N": len(s.processes) + 1, "TICK": s.watch, "LAST": 1 << 30, "max_window": window.Milliseconds(),
		"skew": skew, "ACQUISITIONS": 1 << 20, "FAULTS": 1 << 20, "RESTARTS": 1 << 20,
	}
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		fmt.Fprintf(&b, "#define %s %v\n", name, defined[name])
	}
	fmt.Fprintf(&b, "#include \"%[1]s/replay.pml\"\n#include \"%[1]s/lease.pml\"\n", folder)
	b.WriteString("active proctype History() {\n")
	for _, l := range s.lines {
		fmt.Fprintf(&b, "%s;\n", strings.Join(l.steps, "; "))
	}
	b.WriteString("printf(\"admitted\\n\")\n}\n")
	return b.String()
}

// timeline returns its number. A server that does not tell it is always on the same.
func timeline(hex string) int64 {
	n, err := strconv.ParseInt(cmp.Or(hex, "1"), 16, 64)
	must(err)
	return n
}

func happens(what string, by any) string { return fmt.Sprintf("step ! %s, %v", what, by) }

func call(inline string, args ...any) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = fmt.Sprint(a)
	}
	return inline + "(" + strings.Join(texts, ", ") + ")"
}
