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

// client is one client, of a kind that reports know.
type client struct {
	*Load
	kind, name string
	source     string // of which its IDs are; empty if that does not matter
	url        string
	fresh      bool // a new connection each time
	stays      bool // it keeps a session that refuses it, for it asks this host alone
	patience   time.Duration
	pause      func() time.Duration
	do         func(context.Context, *session) error
	success    func(time.Time) // told of each turn that succeeds; nil if nobody measures it
}

// session is a connection, and whether its server has said something beside the answers.
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

// turn is one turn of a client with its session, or without one. It returns the session that it goes on with.
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

// connect waits for each host of the URL as long as the client has patience, or less if the URL says so.
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

// farewell bounds how long a client waits for the end of its connection.
const farewell = 200 * time.Millisecond

func (s *session) end() {
	if s == nil || s.IsClosed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = s.Close(ctx) // it may be gone already
}

// failed tells what the client saw, unless the load is over, or it is what a standby says to those who asked for it.
func (c *client) failed(err error) {
	said, is := errors.AsType[*pgconn.PgError](err)
	standby := is && said.Code == "25006" && c.stays
	if c.ctx.Err() == nil && !standby {
		c.meter.Saw(c.kind, c.name, meter.Says(err))
	}
}

// mostTold is how many IDs that came twice are told one by one.
const mostTold = 20

// got records IDs that have reached the client.
func (c *client) got(began time.Time, ids []int64) {
	ended := time.Now()
	for _, err := range c.ids.AddFrom(c.name, ended, ids...) {
		c.meter.Twice()
		if again := (*recorder.Twice)(nil); errors.As(err, &again) {
			c.again(again.ID)
		}
		switch {
		case c.told.Add(1) > mostTold: // the report counts the others
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

// mostKept is how many IDs that came twice the report names.
const mostKept = 100_000

func (l *Load) again(id int64) {
	l.repeatedMu.Lock()
	defer l.repeatedMu.Unlock()
	if len(l.repeated) < mostKept {
		l.repeated = append(l.repeated, id)
	}
}

// total is how many IDs clients of a kind have got.
func (l *Load) total(kind string) *atomic.Int64 {
	n, _ := l.kinds.LoadOrStore(kind, new(atomic.Int64))
	return n.(*atomic.Int64)
}

// draw makes a client's turn of a statement that gives so many IDs. Each that comes is recorded, also before an error.
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
