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

// patience bounds every wait. Nothing but a hung server comes near it.
const patience = 15 * time.Second

// session is a client's connection. One goroutine reads all the time, so that neither side ever waits for the other to
// take what it has to say.
type session struct {
	conn net.Conn
	text string // whom it talks to

	mu    sync.Mutex
	heard transcript
	ended error // why reading is over
	news  chan struct{}
}

// open connects and starts up. The greeting is part of the transcript.
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

// startup is the first packet of a session.
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

// wait blocks until done is true of the transcript, or reading is over.
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

// hears is the transcript up to now.
func (s *session) hears() transcript {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

// reference tells the lines of PostgreSQL, from a line of the session's on, given the batches that were answered since.
type reference func(answered []int) (lines []string, err error)

// follow waits until there are as many lines from one on as a reference says, or, if it is strict, one that differs.
// While lines come in the reference learns from them which batches were answered. ready is how many ReadyForQuery there
// were before.
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

// finish waits for the server's end and returns all it said. A server that does not end shows as the last line.
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

// goodbye is how a client leaves that has nothing more to say. The server may have left before.
func (s *session) goodbye() transcript {
	_ = s.say(Terminate.bytes)
	return s.finish()
}

// halfClose is how a client leaves that ends its sending side and still listens; false: its connection cannot.
func (s *session) halfClose() bool {
	half, ok := s.conn.(interface{ CloseWrite() error })
	return ok && half.CloseWrite() == nil
}
