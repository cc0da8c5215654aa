package load

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/meter"
	"pgflurry/tests/support/recorder"
	"pgflurry/tests/support/server"
)

// client is one client. Reports count it under its kind.
type client struct {
	*Load
	kind, name string
	source     string // source of its IDs; empty if that does not matter
	url        string
	fresh      bool // each turn connects anew
	stays      bool // keeps a session that refuses it, because it has no other host
	patience   time.Duration
	pause      func() time.Duration
	do         func(context.Context, *session) error
	success    func(time.Time) // called for each turn that succeeds; nil if nobody measures
}

// session is a connection. It also holds a notice that the server sent beside an answer.
type session struct {
	*pgconn.PgConn
	notice *pgconn.Notice
}

// start runs the client until the load stops.
func (c *client) start() {
	if c.patience == 0 {
		c.patience = patience
	}
	c.running.Go(func() {
		var s *session
		for c.ctx.Err() == nil {
			s = c.turn(s)
			server.Pause(c.ctx, c.pause())
		}
		s.end()
	})
}

// turn does one turn of a client, and connects first if there is no session. It returns the session for the next turn.
func (c *client) turn(s *session) *session {
	if s == nil {
		var err error
		if s, err = c.connect(); err != nil {
			c.failed(err)
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(c.ctx, c.patience)
	defer cancel()
	err := c.do(ctx, s)
	if err != nil {
		c.failed(err)
	}
	if s.IsClosed() || c.fresh || err != nil && !c.stays {
		s.end()
		return nil
	}
	return s
}

// connect tries each host of the URL for as long as the client has patience, or for less if the URL says so.
func (c *client) connect() (*session, error) {
	config, err := pgconn.ParseConfig(c.url)
	if err != nil {
		return nil, err
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > c.patience {
		config.ConnectTimeout = c.patience
	}
	s := &session{}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { s.notice = n }
	s.PgConn, err = pgconn.ConnectConfig(c.ctx, config)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// farewell limits the wait of a client for the end of its connection.
const farewell = 200 * time.Millisecond

func (s *session) end() {
	if s == nil || s.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = s.Close(ctx) // the connection may be gone already
}

// failed records what the client saw. It ignores the end of the load, and a standby's refusal of a client that wants
// the primary.
func (c *client) failed(err error) {
	said, is := errors.AsType[*pgconn.PgError](err)
	standby := is && said.Code == "25006" && c.stays
	if c.ctx.Err() == nil && !standby {
		c.meter.Saw(c.kind, c.name, meter.Says(err))
	}
}

// mostReported is the number of duplicates that are reported one by one.
const mostReported = 20

// got records IDs that reached the client.
func (c *client) got(began time.Time, ids []int64) {
	ended := time.Now()
	for _, err := range c.ids.AddFrom(c.name, ended, ids...) {
		c.meter.Twice()
		if again := (*recorder.Twice)(nil); errors.As(err, &again) {
			c.again(again.ID)
		}
		switch {
		case c.reported.Add(1) > mostReported: // the report counts the others
		case c.set.CountTwice:
			c.t.Log(err)
		default:
			c.t.Error(err)
		}
	}
	c.total(c.kind).Add(int64(len(ids)))
	if c.source != "" {
		c.meter.Given(c.source, began, ended, len(ids))
	}
}

// mostKept is the number of duplicates that the report names.
const mostKept = 100_000

func (l *Load) again(id int64) {
	l.repeatedMu.Lock()
	defer l.repeatedMu.Unlock()
	if len(l.repeated) < mostKept {
		l.repeated = append(l.repeated, id)
	}
}

// total returns the number of IDs that clients of a kind have got.
func (l *Load) total(kind string) *atomic.Int64 {
	n, _ := l.kinds.LoadOrStore(kind, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// draw returns a turn with a statement that gives n IDs. It records each ID that comes, also before an error.
func (c *client) draw(statement string, expected int) {
	ids := make([]int64, 0, expected)
	c.do = func(ctx context.Context, s *session) error {
		began := time.Now()
		var err error
		ids, err = draw(ctx, s, statement, ids[:0])
		c.got(began, ids)
		if err == nil && len(ids) != expected {
			err = fmt.Errorf("%d IDs and no error, expected %d", len(ids), expected)
			c.t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			c.succeeded()
		}
		return err
	}
}

func (c *client) succeeded() {
	if c.success != nil {
		c.success(time.Now())
	}
}

func draw(ctx context.Context, s *session, statement string, ids []int64) ([]int64, error) {
	rows := s.ExecParams(ctx, statement, nil, nil, nil, nil)
	var wrong error
	for rows.NextRow() {
		id, err := strconv.ParseInt(string(rows.Values()[0]), 10, 64)
		if err != nil {
			wrong = errors.Join(wrong, err)
			continue
		}
		ids = append(ids, id)
	}
	_, err := rows.Close()
	return ids, errors.Join(wrong, err)
}
