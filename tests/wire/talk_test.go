package wire

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgflurry/tests/support/volume"
)

// step is what a client sends without a pause. Then the client waits.
type step []message

func say(messages ...message) step { return messages }

// asks says whether PostgreSQL flushes its replies after one of the messages.
func (s step) asks() bool {
	return slices.ContainsFunc(s, func(m message) bool { return strings.IndexByte("QFSHcf", m.bytes[0]) >= 0 })
}

// conversation is a list of steps, and the expectations. The test adds the Terminate at the end.
type conversation struct {
	name  string
	steps []step
	// local is the number of IDs from memory if the client waits after each step
	local int
	// hasty clients do not wait after a step that asks for no reply, though an error would come at once
	hasty bool
	// halfCloses: if its connection can, the client ends its sending side instead of sending a Terminate
	halfCloses bool
	// brief: there are many conversations of this kind, so it only goes some of the ways
	brief bool
	// with has startup parameters: name, value, …
	with []string
}

func (c conversation) all() (all []message) {
	for _, s := range c.steps {
		all = append(all, s...)
	}
	return all
}

func (c conversation) String() string {
	var b strings.Builder
	for _, s := range c.steps {
		fmt.Fprintf(&b, "\tsay(%s),\n", joinText(s))
	}
	return b.String()
}

// postgresSays returns PostgreSQL's transcript of the messages and a Terminate, sent at once. answered are the batches
// that the proxy has answered. After each the test makes PostgreSQL forget what the proxy forgets.
func (st *stand) postgresSays(c conversation, messages []message, answered []int) (transcript, error) {
	said := forgetting(messages, answered)
	key := strings.Join(c.with, "\x00") + "\x00\x00" + string(said.bytes)
	if known, ok := st.direct.Load(key); ok {
		return known.(transcript), nil
	}
	s, err := open(st.dialDirect, "PostgreSQL", st.twin, c.with...)
	if err != nil {
		return transcript{}, err
	}
	if err := s.say(slices.Concat(said.bytes, Terminate.bytes)); err != nil {
		return transcript{}, err
	}
	t := s.finish()
	// A client that waits during COPY sends no Terminate, so PostgreSQL's reply to the Terminate does not count.
	i := slices.IndexFunc(t.lines, func(l string) bool {
		return strings.Contains(l, "unexpected message type 0x58 during COPY")
	})
	if i >= 0 {
		t.lines = t.lines[:i]
	}
	if t.lines, err = said.strip(t.lines, -1); err != nil {
		return t, err
	}
	st.direct.Store(key, t)
	return t, nil
}

// saysTo returns what PostgreSQL says to some messages of a conversation.
func (st *stand) saysTo(c conversation, messages []message) reference {
	return func(answered []int) ([]string, error) {
		t, err := st.postgresSays(c, messages, answered)
		return t.lines, err
	}
}

// patientlyThrough says the steps one by one. After each it waits for as much as PostgreSQL sends for the steps so far.
func (st *stand) patientlyThrough(c conversation, h *house) (transcript, error) {
	s, err := open(h.dial, h.name, st.database, c.with...)
	if err != nil {
		return transcript{}, err
	}
	var said []message
	for i, step := range c.steps {
		if err := s.say(joinBytes(step)); err != nil {
			return s.finish(), nil // the transcript so far shows why
		}
		said = append(said, step...)
		if c.hasty && !step.asks() {
			continue
		}
		if want, err := s.follow(0, 1, false, st.saysTo(c, said)); err != nil {
			t := s.finish()
			waited := err.Error()
			if want != nil {
				waited = want[len(want)-1]
			}
			t.lines = append(t.lines, fmt.Sprintf("while the client waited after step %d for: %s", i+1, waited))
			return t, nil
		}
	}
	if c.halfCloses && s.halfClose() {
		return s.finish(), nil
	}
	return s.goodbye(), nil
}

// cutThrough sends everything without waiting, in pieces that end at these offsets.
func (st *stand) cutThrough(
	c conversation, dial func() (net.Conn, error), name string, cuts ...int,
) (transcript, error) {
	s, err := open(dial, name, st.database, c.with...)
	if err != nil {
		return transcript{}, err
	}
	b := joinBytes(c.all())
	start := 0
	for _, end := range append(cuts, len(b)) {
		if err := s.say(b[start:end]); err != nil {
			return s.finish(), nil
		}
		start = end
	}
	if c.halfCloses && s.halfClose() {
		return s.finish(), nil
	}
	if _, err := s.follow(0, 1, false, st.saysTo(c, c.all())); err != nil {
		return s.finish(), nil
	}
	return s.goodbye(), nil
}

// differs returns the difference between a proxy's transcript and PostgreSQL's, after PostgreSQL has forgotten the
// same.
func (st *stand) differs(c conversation, got transcript, name string) (string, error) {
	want, err := st.postgresSays(c, c.all(), got.since(1))
	return difference(want, got, name), err
}

// randomCuts returns 1 to 8 offsets in order.
func randomCuts(r *rand.Rand, c conversation) []int {
	size := len(joinBytes(c.all()))
	var cuts []int
	for range 1 + r.IntN(8) {
		cuts = append(cuts, r.IntN(size+1))
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// difference returns "" if two transcripts agree. Otherwise it shows them side by side.
func difference(want, got transcript, name string) string {
	if slices.Equal(want.lines, got.lines) {
		return ""
	}
	same := 0
	for same < len(want.lines) && same < len(got.lines) && want.lines[same] == got.lines[same] {
		same++
	}
	var b strings.Builder
	show := func(title string, lines []string) {
		fmt.Fprintf(&b, "%s:\n", title)
		for i, line := range lines {
			if i >= max(0, same-3) && (i < same+12 || i == len(lines)-1) &&
				!strings.HasPrefix(line, "ParameterStatus") {
				fmt.Fprintf(&b, "\t%3d %.300s\n", i, line)
			}
		}
	}
	fmt.Fprintf(&b, "the transcripts differ from line %d on\n", same)
	show("PostgreSQL", want.lines)
	show(name, got.lines)
	return b.String()
}

// confuses says whether PostgreSQL itself gets these messages wrong. That is a Query or FunctionCall after an Execute
// without a Sync between, which no driver sends. From version 18 on (18.4) the command after that Sync fails with
// XX000, "StartTransactionCommand: unexpected state STARTED". Then there is nothing to compare with.
func (st *stand) confuses(messages []message) bool {
	executed, ever := false, false
	for _, m := range messages {
		switch m.bytes[0] {
		case 'E':
			executed, ever = true, true
		case 'S':
			executed = false
		case 'c', 'f':
			executed = ever // the Sync was within a COPY, which ignores it
		case 'Q', 'F':
			if executed {
				return st.version >= 180000
			}
		}
	}
	return false
}

// crashes says whether these messages may crash PostgreSQL itself, without a proxy. In a transaction block a Query that
// fails while it runs leaves its unnamed portal, whose statements are in freed memory. Seen in 15.18 and 18.4 with
// BEGIN by Execute, ROLLBACK TO of no savepoint, a Query of two statements, Execute of the unnamed portal.
func crashes(messages []message) bool {
	failing := []string{"ROLLBACK TO ", "FETCH ", "DECLARE ", "DEALLOCATE ", "COPY ", "DO ", "SAVEPOINT "}
	left, bound := false, false
	for _, m := range messages {
		switch body := string(m.bytes[5:]); m.bytes[0] {
		case 'Q':
			bound = false
			left = left ||
				slices.ContainsFunc(failing, func(begin string) bool { return strings.HasPrefix(body, begin) })
		case 'B':
			bound = bound || body[0] == 0
		case 'S':
			bound = false
		case 'E', 'D':
			if left && !bound && (strings.HasPrefix(body, "\x00") || strings.HasPrefix(body, "P\x00")) {
				return true
			}
		}
	}
	return false
}

// check has a conversation with PostgreSQL and, in several ways, with the proxies.
func (st *stand) check(t *testing.T, c conversation, r *rand.Rand) {
	t.Helper()
	if st.confuses(c.all()) {
		t.Logf("PostgreSQL %d gets this conversation wrong itself", st.version)
		return
	}
	got, err := st.patientlyThrough(c, st.answering)
	if !st.agrees(t, c, got, err, "answering proxy, patient client") {
		return
	}
	if n := got.localIDs(); n != c.local {
		t.Errorf("the proxy gave %d IDs from memory; want %d, in\n%s", n, c.local, c)
	}
	type way struct {
		name  string
		run   func() (transcript, error)
		brief bool // also for brief conversations
	}
	cuts := randomCuts(r, c)
	every := []way{
		{"moody proxy, patient client", func() (transcript, error) { return st.patientlyThrough(c, st.moody) }, true},
		{"moody proxy, patient client inside TLS", func() (transcript, error) {
			return st.patientlyThrough(c, st.moody.inside())
		}, false},
		{"relaying proxy", func() (transcript, error) { return st.patientlyThrough(c, st.relaying) }, false},
		{"answering proxy, one breath", func() (transcript, error) {
			return st.cutThrough(c, st.answering.dial, "answering")
		}, false},
		{"answering proxy, crumbs from upstream", func() (transcript, error) {
			return st.patientlyThrough(c, st.chopped)
		}, false},
		{fmt.Sprintf("answering proxy, cut at %v", cuts), func() (transcript, error) {
			return st.cutThrough(c, st.answering.pipe, "answering", cuts...)
		}, true},
		{fmt.Sprintf("moody proxy, cut at %v", cuts), func() (transcript, error) {
			return st.cutThrough(c, st.moody.pipe, "moody", cuts...)
		}, false},
	}
	if c.brief {
		every = slices.DeleteFunc(every, func(w way) bool { return !w.brief })
	}
	r.Shuffle(len(every), func(i, j int) { every[i], every[j] = every[j], every[i] })
	for _, w := range every[:volume.Of((len(every)+1)/4, len(every))] {
		if got, err := w.run(); !st.agrees(t, c, got, err, w.name) {
			return
		}
	}
}

// agrees expects that a proxy said the same as PostgreSQL, and gave no ID twice.
func (st *stand) agrees(t *testing.T, c conversation, got transcript, err error, name string) bool {
	t.Helper()
	d := ""
	if err == nil {
		d, err = st.differs(c, got, name)
	}
	if d != "" || err != nil {
		t.Errorf("%v\n%s%s", err, c, d)
		return false
	}
	st.checkDistinct(t, got.ids)
	if strings.HasPrefix(name, "answering") {
		st.heardLocal.Add(int64(got.localIDs()))
	}
	return true
}

// checkDistinct fails if an ID came twice.
func (st *stand) checkDistinct(t *testing.T, ids []int64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(ids))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			t.Errorf("ID %d came twice", sorted[i])
		}
	}
}

// checkAll checks conversations, some at the same time.
func checkAll(t *testing.T, conversations []conversation) {
	seed := rand.Uint64()
	st := newStand(t, seed)
	next := make(chan int)
	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			for i := range next {
				c := conversations[i]
				t.Run(c.name, func(t *testing.T) { st.check(t, c, rand.New(rand.NewPCG(seed, uint64(i)))) })
			}
		})
	}
	for i := range conversations {
		next <- i
	}
	close(next)
	running.Wait()
	here, there := st.answering.proxy.Stats(), st.chopped.proxy.Stats()
	counted := here.IDs + here.Numbers + there.IDs + there.Numbers
	if counted != st.heardLocal.Load() && !t.Failed() {
		t.Errorf("the proxies count %d IDs and numbers from memory; the clients heard %d",
			counted, st.heardLocal.Load())
	}
}
