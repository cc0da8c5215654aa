package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgproto3/v2"
)

// patience limits every wait. Only a server that hangs comes near it.
const patience = 15 * time.Second

// session is a client's connection. One goroutine reads all the time, so the two sides never block each other with
// unread data.
type session struct {
	conn net.Conn
	text string // the other side

	mu    sync.Mutex
	heard transcript
	ended error // why reading has ended
	news  chan struct{}
}

// open connects and starts a session. The greeting belongs to the transcript.
func open(dial func() (net.Conn, error), text, database string, parameters ...string) (*session, error) {
	conn, err := dial()
	if err != nil {
		return nil, err
	}
	return start(conn, text, database, parameters...)
}

func start(conn net.Conn, text, database string, parameters ...string) (*session, error) {
	s := &session{conn: conn, text: text, news: make(chan struct{}, 1)}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(startup(database, parameters...)); err != nil {
		return nil, err
	}
	go s.listen()
	return s, s.waitForGreeting()
}

// startup returns the first packet of a session.
func startup(database string, parameters ...string) []byte {
	m := &pgproto3.StartupMessage{
		ProtocolVersion: pgproto3.ProtocolVersionNumber,
		Parameters:      map[string]string{"user": "postgres", "database": database, "application_name": "wire"},
	}
	for i := 0; i < len(parameters); i += 2 {
		m.Parameters[parameters[i]] = parameters[i+1]
	}
	b, err := m.Encode(nil)
	if err != nil {
		panic(err)
	}
	return b
}

// listen collects lines until the server ends the connection.
func (s *session) listen() {
	frames := &framedReader{r: s.conn}
	frontend := pgproto3.NewFrontend(pgproto3.NewChunkReader(frames), nil)
	for {
		m := masker{}
		line, err := receive(frontend, &m)
		if errors.Is(err, io.ErrUnexpectedEOF) && !frames.torn() {
			err = io.EOF
		}
		s.mu.Lock()
		if err != nil {
			s.ended = err
		} else {
			s.heard.add(line, m.ids)
		}
		s.mu.Unlock()
		select {
		case s.news <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// wait blocks until done is true for the transcript, or reading has ended.
func (s *session) wait(done func(transcript) bool) error {
	for {
		s.mu.Lock()
		ok, ended := done(s.heard), s.ended
		s.mu.Unlock()
		if ok {
			return nil
		}
		if ended != nil {
			return fmt.Errorf("%s: %w", s.text, ended)
		}
		<-s.news
	}
}

func (s *session) waitForGreeting() error {
	return s.wait(func(t transcript) bool { return t.ready > 0 })
}

// hears returns the transcript so far.
func (s *session) hears() transcript {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// reference returns PostgreSQL's lines, from a line of the session on, if the proxy answered these batches since then.
type reference func(answered []int) (lines []string, err error)

// follow waits until the session has, after the line from, as many lines as the reference says. If strict is true, it
// also stops at the first line that differs. While lines arrive, it tells the reference which batches were answered.
// ready is the number of ReadyForQuery up to from.
func (s *session) follow(from, ready int, strict bool, says reference) (want []string, err error) {
	for {
		heard := s.hears()
		if want, err = says(heard.since(ready)); err != nil {
			return nil, err
		}
		got := heard.lines[from:]
		n := min(len(want), len(got))
		if n == len(want) || strict && !slices.Equal(want[:n], got[:n]) {
			return want, nil
		}
		err := s.wait(func(t transcript) bool {
			return len(t.lines) >= from+len(want) || len(t.answered) > len(heard.answered) ||
				strict && len(t.lines) > len(heard.lines)
		})
		if err != nil {
			return want, err
		}
	}
}

func (s *session) say(b []byte) error {
	_, err := s.conn.Write(b)
	return err
}

// finish waits until the server closes, and returns everything it sent. If the server does not close, the last line
// says so.
func (s *session) finish() transcript {
	err := s.wait(func(transcript) bool { return false })
	s.conn.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
		s.heard.lines = append(s.heard.lines, "and then: "+strings.TrimPrefix(err.Error(), s.text+": "))
	}
	return s.heard
}

// goodbye sends a Terminate, as a client that has nothing more to say. The server may have closed before.
func (s *session) goodbye() transcript {
	_ = s.say(Terminate.bytes)
	return s.finish()
}

// halfClose ends the sending side and still reads. It returns false if the connection cannot do that.
func (s *session) halfClose() bool {
	half, ok := s.conn.(interface{ CloseWrite() error })
	return ok && half.CloseWrite() == nil
}
