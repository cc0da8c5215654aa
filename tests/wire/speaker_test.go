//go:build full

package wire

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"time"
)

// speaker says one word after the other in one session. The first word opens it.
type speaker struct {
	dial     func() (net.Conn, error)
	database string
	name     string
	cut      *rand.Rand // cuts a word into pieces and does not wait; nil: waits after each step

	s        *session
	from     int     // lines before this word
	ready    int     // ReadyForQuery before this word
	previous string  // the word before, for a failed test
	ids      []int64 // of earlier sessions
}

func (p *speaker) begin() error {
	if p.s == nil {
		s, err := open(p.dial, p.name, p.database)
		if err != nil {
			return err
		}
		p.s, p.from, p.ready = s, len(s.hears().lines), 1
	}
	return p.s.conn.SetDeadline(time.Now().Add(patience))
}

// take returns the lines of the present word so far, but at most n. Further lines belong to the next word.
func (p *speaker) take(n int) (lines []string) {
	heard := p.s.hears()
	end := min(p.from+n, len(heard.lines))
	lines = slices.Clone(heard.lines[p.from:end])
	p.from = end
	for _, line := range lines {
		if isReady(line) {
			p.ready++
		}
	}
	return lines
}

// sayThrough says a script and returns all lines up to the marker at its end. It is the way to ask PostgreSQL, because
// only the marker shows how much will come.
func (p *speaker) sayThrough(said script) ([]string, error) {
	if err := p.begin(); err != nil {
		return nil, err
	}
	if err := p.s.say(said.bytes); err != nil {
		return nil, err
	}
	size, seen := 0, p.from
	err := p.s.wait(func(t transcript) bool {
		if size == 0 {
			if i := slices.Index(t.lines[seen:], marker); i >= 0 {
				size = seen + i - p.from + 3 // with CommandComplete and ReadyForQuery
			}
			seen = len(t.lines)
		}
		return size > 0 && len(t.lines) >= p.from+size
	})
	if err != nil {
		return nil, err
	}
	return said.strip(p.take(size), 0)
}

// asking returns what PostgreSQL says to a word if the proxy answered these batches of it.
type asking func(word string, answered []int) (lines []string, err error)

// differs says a word and returns the difference from PostgreSQL.
func (p *speaker) differs(m mood, word string, ask asking) string {
	err := p.begin()
	if err != nil {
		return err.Error()
	}
	if p.cut != nil {
		err = p.sayCut(m.messages(word))
	} else {
		err = p.sayPatiently(m, word, ask)
	}
	if err == nil {
		_, err = p.s.follow(p.from, p.ready, true, func(answered []int) ([]string, error) {
			return ask(word, answered)
		})
	}
	heard := p.s.hears()
	want, askErr := ask(word, heard.since(p.ready))
	got := p.take(len(want))
	if err = errors.Join(err, askErr); err != nil {
		got = append(got, "and then: "+err.Error())
	}
	d := difference(transcript{lines: want}, transcript{lines: got}, p.name)
	if d != "" {
		d += fmt.Sprintf("the word before it in this session: %q\n", p.previous)
		p.goodbye()
	}
	p.previous = word
	return d
}

// sayPatiently waits after each step that asks for replies. PostgreSQL's reply to the word so far tells how many lines
// to wait for.
func (p *speaker) sayPatiently(m mood, word string, ask asking) error {
	steps := m.steps(word)
	before := len(steps) - 1 - len(word) // the steps before the letters
	for i, step := range steps {
		if err := p.s.say(joinBytes(step)); err != nil {
			return err
		}
		if !step.asks() {
			continue
		}
		_, err := p.s.follow(p.from, p.ready, true, func(answered []int) ([]string, error) {
			want, err := ask(word[:min(i+1-before, len(word))], answered)
			if err != nil {
				return nil, err
			}
			n := beginning(want)
			if i == len(steps)-1 {
				n++ // ReadyForQuery
			}
			return want[:n], nil
		})
		if err != nil {
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

// goodbye ends the session. The next word opens another.
func (p *speaker) goodbye() {
	if p.s != nil {
		p.ids = append(p.ids, p.s.goodbye().ids...)
		p.s = nil
	}
}
