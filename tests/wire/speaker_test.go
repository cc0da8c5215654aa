package wire

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"
)

// speaker says word after word in one session, which is opened with the first.
type speaker struct {
	st   *stand
	dial func() (net.Conn, error)
	name string
	cut  *rand.Rand // says a word in one breath, cut into pieces; nil waits where a client can

	s        *session
	from     int    // lines of the words before this one
	previous string // word, for who reads a failing test
}

func (p *speaker) begin() error {
	if p.s == nil {
		s, err := open(p.dial, p.name, p.st.database)
		if err != nil {
			return err
		}
		p.s, p.from = s, len(s.heard.lines)
	}
	return p.s.conn.SetDeadline(time.Now().Add(patience))
}

// waitFor waits for these lines of the present word, or for one that differs.
func (p *speaker) waitFor(want []string) error {
	return p.s.wait(func(t transcript) bool {
		got := t.lines[p.from:]
		n := min(len(want), len(got))
		return n == len(want) || !slices.Equal(want[:n], got[:n])
	})
}

// take gives the lines of the present word up to now, or the first n of them, and leaves the rest to the next.
func (p *speaker) take(n int) []string {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	from := p.from
	p.from = min(from+n, len(p.s.heard.lines))
	return slices.Clone(p.s.heard.lines[from:p.from])
}

// sayThrough says a word and returns all that comes until the marker. It is how PostgreSQL is asked: nobody knows yet what
// to wait for.
func (p *speaker) sayThrough(m mood, word string) ([]string, error) {
	if err := p.begin(); err != nil {
		return nil, err
	}
	if err := p.s.say(joinBytes(append(slices.Concat(m.steps(word)...), clearing...))); err != nil {
		return nil, err
	}
	size := 0
	err := p.s.wait(func(t transcript) bool {
		i := slices.Index(t.lines[p.from:], marker)
		size = i + 3 // with CommandComplete and ReadyForQuery
		return i >= 0 && len(t.lines) >= p.from+size
	})
	return p.take(size), err
}

// differs says a word and tells how what comes differs from what PostgreSQL says, for which it asks.
func (p *speaker) differs(m mood, word string, ask func(word string) []string) string {
	want := ask(word)
	err := p.begin()
	if err == nil && p.cut != nil {
		err = p.sayCut(slices.Concat(append(m.steps(word), clearing)...))
	} else if err == nil {
		err = p.sayPatiently(m, word, ask)
	}
	if err == nil {
		err = p.waitFor(want)
	}
	if p.s == nil {
		return err.Error()
	}
	got := p.take(len(want))
	if err != nil {
		got = append(got, "and then: "+err.Error())
	}
	d := difference(transcript{lines: want}, transcript{lines: got}, p.name)
	if d != "" {
		d += fmt.Sprintf("the word before it in this session: %q\n", p.previous)
		p.goodbye()
		p.s = nil
	}
	p.previous = word
	return d
}

// sayPatiently waits after each step that asks for replies. How many there are by then, PostgreSQL's reply to the word so
// far tells.
func (p *speaker) sayPatiently(m mood, word string, ask func(word string) []string) error {
	steps := m.steps(word)
	before := len(steps) - 1 - len(word) // steps that are no letters
	for i, step := range steps {
		if err := p.s.say(joinBytes(step)); err != nil {
			return err
		}
		if !step.asks() {
			continue
		}
		want := ask(word[:min(i+1-before, len(word))])
		if i < len(steps)-1 {
			want = want[:beginning(want)]
		} else {
			want = want[:beginning(want)+1] // ReadyForQuery
		}
		if err := p.waitFor(want); err != nil {
			return fmt.Errorf("while the client waited after step %d: %w", i+1, err)
		}
	}
	return p.s.say(joinBytes(clearing))
}

func (p *speaker) sayCut(messages []message) error {
	b := joinBytes(messages)
	var cuts []int
	for range 1 + p.cut.IntN(6) {
		cuts = append(cuts, p.cut.IntN(len(b)+1))
	}
	slices.Sort(cuts)
	start := 0
	for _, end := range append(cuts, len(b)) {
		if err := p.s.say(b[start:end]); err != nil {
			return err
		}
		start = end
	}
	return nil
}

// goodbye ends the session and returns all IDs it got.
func (p *speaker) goodbye() []int64 {
	if p.s == nil {
		return nil
	}
	return p.s.goodbye().ids
}
