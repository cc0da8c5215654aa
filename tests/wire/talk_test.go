package wire

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
)

// step is what a client says in one breath before it waits.
type step []message

func say(messages ...message) step { return messages }

// asks says that PostgreSQL flushes its replies to one of the messages.
func (s step) asks() bool {
	return slices.ContainsFunc(s, func(m message) bool { return strings.IndexByte("QFSHcf", m.bytes[0]) >= 0 })
}

// conversation is a list of steps and what must come of it. The test says goodbye at the end by itself.
type conversation struct {
	name  string
	steps []step
	// local is how many IDs the proxy gives from memory when the client waits after each step.
	local int
	// hasty clients do not wait after a step that asks for no reply, though an error would come at once.
	hasty bool
	// with are startup parameters: name, value, …
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

// postgresSays is the transcript of some messages and a Terminate, said to PostgreSQL in one breath.
func (st *stand) postgresSays(c conversation, messages []message) (transcript, error) {
	b := joinBytes(messages)
	key := strings.Join(c.with, "\x00") + "\x00\x00" + string(b)
	if known, ok := st.direct[key]; ok {
		return known, nil
	}
	s, err := open(st.dialDirect, "PostgreSQL", st.database, c.with...)
	if err != nil {
		return transcript{}, err
	}
	if err := s.say(append(b, Terminate.bytes...)); err != nil {
		return transcript{}, err
	}
	t := s.finish()
	// A client that waits during COPY does not send Terminate, so what PostgreSQL says to it does not count.
	if i := slices.IndexFunc(t.lines, func(l string) bool { return strings.Contains(l, "unexpected message type 0x58 during COPY") }); i >= 0 {
		t.lines = t.lines[:i]
	}
	st.direct[key] = t
	return t, nil
}

// patientlyThrough says step by step, and waits after each for as much as PostgreSQL says to the steps so far.
func (st *stand) patientlyThrough(c conversation, h *house) (transcript, error) {
	var said []message
	var want []transcript
	for _, step := range c.steps {
		said = append(said, step...)
		if c.hasty && !step.asks() {
			want = append(want, transcript{})
			continue
		}
		t, err := st.postgresSays(c, said)
		if err != nil {
			return transcript{}, err
		}
		want = append(want, t)
	}
	// No other session is open from here on: it could send notifications.
	s, err := open(h.dial, h.name, st.database, c.with...)
	if err != nil {
		return transcript{}, err
	}
	for i, step := range c.steps {
		if err := s.say(joinBytes(step)); err != nil {
			return s.finish(), nil // what was said until then shows why
		}
		if err := s.waitForLines(len(want[i].lines)); err != nil {
			t := s.finish()
			t.lines = append(t.lines, fmt.Sprintf("while the client waited after step %d for: %s", i+1, want[i].lines[len(want[i].lines)-1]))
			return t, nil
		}
	}
	return s.goodbye(), nil
}

// cutThrough says everything without waiting, in pieces that end at the given offsets.
func (st *stand) cutThrough(c conversation, dial func() (net.Conn, error), name string, cuts ...int) (transcript, error) {
	want, err := st.postgresSays(c, c.all())
	if err != nil {
		return transcript{}, err
	}
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
	if err := s.waitForLines(len(want.lines)); err != nil {
		return s.finish(), nil
	}
	return s.goodbye(), nil
}

// randomCuts are 1 to 8 offsets in order.
func randomCuts(r *rand.Rand, c conversation) []int {
	size := len(joinBytes(c.all()))
	var cuts []int
	for range 1 + r.IntN(8) {
		cuts = append(cuts, r.IntN(size+1))
	}
	slices.Sort(cuts)
	return slices.Compact(cuts)
}

// difference is empty where two transcripts agree, else it shows them side by side.
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
			if i >= max(0, same-3) && (i < same+12 || i == len(lines)-1) && !strings.HasPrefix(line, "ParameterStatus") {
				fmt.Fprintf(&b, "\t%3d %.300s\n", i, line)
			}
		}
	}
	fmt.Fprintf(&b, "the transcripts differ from line %d on\n", same)
	show("PostgreSQL", want.lines)
	show(name, got.lines)
	return b.String()
}

// confuses says that PostgreSQL itself gets these messages wrong: a Query or FunctionCall after an Execute without a Sync
// between, which no driver sends. From version 18 on (18.4) the command after that Sync fails with XX000, "StartTransactionCommand:
// unexpected state STARTED". There is nothing to compare with then.
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

// check holds a conversation with PostgreSQL and, in every way there is, with the proxies.
func (st *stand) check(t *testing.T, c conversation, r *rand.Rand) {
	t.Helper()
	if st.confuses(c.all()) {
		t.Logf("PostgreSQL %d gets this conversation wrong itself", st.version)
		return
	}
	want, err := st.postgresSays(c, c.all())
	if err != nil {
		t.Fatal(err)
	}
	before := st.answering.proxy.Stats()
	got, err := st.patientlyThrough(c, st.answering)
	if d := difference(want, got, "answering proxy, patient client"); d != "" || err != nil {
		t.Errorf("%v %s\n%s", err, c, d)
		return
	}
	if n := got.localIDs(); n != c.local {
		t.Errorf("the proxy gave %d IDs from memory; want %d, in\n%s", n, c.local, c)
	}
	if n := st.answering.proxy.Stats().IDs - before.IDs; n != int64(c.local) {
		t.Errorf("the proxy counts %d IDs from memory; want %d, in\n%s", n, c.local, c)
	}
	st.checkDistinct(t, got.ids)
	type way struct {
		name string
		run  func() (transcript, error)
	}
	cuts := randomCuts(r, c)
	for _, w := range []way{
		{"moody proxy, patient client", func() (transcript, error) { return st.patientlyThrough(c, st.moody) }},
		{"moody proxy, patient client inside TLS", func() (transcript, error) { return st.patientlyThrough(c, st.moody.inside()) }},
		{"relaying proxy", func() (transcript, error) { return st.patientlyThrough(c, st.relaying) }},
		{"answering proxy, one breath", func() (transcript, error) { return st.cutThrough(c, st.answering.dial, "answering") }},
		{"answering proxy, crumbs from upstream", func() (transcript, error) { return st.patientlyThrough(c, st.chopped) }},
		{fmt.Sprintf("answering proxy, cut at %v", cuts), func() (transcript, error) {
			return st.cutThrough(c, st.answering.pipe, "answering", cuts...)
		}},
		{fmt.Sprintf("moody proxy, cut at %v", cuts), func() (transcript, error) {
			return st.cutThrough(c, st.moody.pipe, "moody", cuts...)
		}},
	} {
		got, err := w.run()
		if d := difference(want, got, w.name); d != "" || err != nil {
			t.Errorf("%v %s\n%s", err, c, d)
			return
		}
		st.checkDistinct(t, got.ids)
	}
}

// checkDistinct asserts that no ID comes twice.
func (st *stand) checkDistinct(t *testing.T, ids []int64) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(ids))
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			t.Errorf("ID %d came twice", sorted[i])
		}
	}
}

// checkAll runs conversations one after the other.
func checkAll(t *testing.T, conversations []conversation) {
	seed := rand.Uint64()
	st := newStand(t, seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) { st.check(t, c, r) })
	}
}
