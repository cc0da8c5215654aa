package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
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
	s := &session{conn: conn, text: text, news: make(chan struct{}, 1)}
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	startup := &pgproto3.StartupMessage{
		ProtocolVersion: pgproto3.ProtocolVersionNumber,
		Parameters:      map[string]string{"user": "postgres", "database": database, "application_name": "wire"},
	}
	for i := 0; i < len(parameters); i += 2 {
		startup.Parameters[parameters[i]] = parameters[i+1]
	}
	hello, err := startup.Encode(nil)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(hello); err != nil {
		return nil, err
	}
	go s.listen()
	return s, s.waitForGreeting()
}

// listen collects lines until the server ends the connection.
func (s *session) listen() {
	frames := &framedReader{r: s.conn}
	frontend := pgproto3.NewFrontend(pgproto3.NewChunkReader(frames), nil)
	m := &masker{}
	for {
		line, err := receive(frontend, m)
		if errors.Is(err, io.ErrUnexpectedEOF) && !frames.torn() {
			err = io.EOF
		}
		s.mu.Lock()
		s.heard.ids = m.ids
		if err != nil {
			s.ended = err
		} else {
			s.heard.lines = append(s.heard.lines, line)
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
	return s.wait(func(t transcript) bool {
		return len(t.lines) > 0 && strings.HasPrefix(t.lines[len(t.lines)-1], "ReadyForQuery")
	})
}

func (s *session) waitForLines(n int) error {
	return s.wait(func(t transcript) bool { return len(t.lines) >= n })
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
