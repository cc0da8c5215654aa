package simulation

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/tests/support/rows"
)

// The other end of a keeper's connection. It understands only the pipeline that a Writer sends, and answers as the
// history decides.

// texts are the statements that change the table, by their files.
var texts = map[string]string{}

func readTexts() error {
	for _, name := range []string{"acquire", "renew", "release"} {
		text, err := os.ReadFile("../../internal/lease/" + name + ".sql")
		if err != nil {
			return err
		}
		texts[name] = string(text)
	}
	return nil
}

var errCut = errors.New("the connection broke")

// conn is a net.Conn without a network. It parses each write at once. When the client reads the answer, it asks the
// history. It has a lock, because pgconn may also read in another goroutine while it opens a connection slowly.
type conn struct {
	p       *process
	mu      sync.Mutex
	more    sync.Cond // with mu: more to read, or the end
	in, out []byte
	started bool
	queries []string
	params  [][]string
	write   *write // complete, not yet answered
	closed  bool
}

func dialer(p *process) pgconn.DialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		c := &conn{p: p}
		c.more.L = &c.mu
		return c, nil
	}
}

func (c *conn) Read(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.out) == 0 && c.write == nil && !c.closed {
		c.more.Wait()
	}
	if len(c.out) == 0 {
		if c.closed {
			return 0, errCut
		}
		reply := c.p.ask(event{write: c.write})
		c.write = nil
		if reply.err != nil {
			c.closed = true
			return 0, reply.err
		}
		c.out = reply.bytes
	}
	n := copy(b, c.out)
	c.out = c.out[n:]
	return n, nil
}

func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.more.Broadcast()
	if c.closed {
		return 0, errCut
	}
	c.in = append(c.in, b...)
	for c.message() {
	}
	return len(b), nil
}

func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.more.Broadcast()
	c.closed = true
	return nil
}

// message takes one whole message from the input.
func (c *conn) message() bool {
	if !c.started {
		if len(c.in) < 4 || len(c.in) < int(binary.BigEndian.Uint32(c.in)) {
			return false
		}
		c.in, c.started = c.in[binary.BigEndian.Uint32(c.in):], true
		c.out = encode(&pgproto3.AuthenticationOk{}, &pgproto3.BackendKeyData{SecretKey: []byte{0, 0, 0, 0}},
			&pgproto3.ReadyForQuery{TxStatus: 'I'})
		return true
	}
	if len(c.in) < 5 || len(c.in) < 1+int(binary.BigEndian.Uint32(c.in[1:])) {
		return false
	}
	size := 1 + int(binary.BigEndian.Uint32(c.in[1:]))
	kind, body := c.in[0], c.in[5:size]
	c.in = c.in[size:]
	switch kind {
	case 'P':
		var m pgproto3.Parse
		must(m.Decode(body))
		c.queries = append(c.queries, m.Query)
	case 'B':
		var m pgproto3.Bind
		must(m.Decode(body))
		var params []string
		for _, p := range m.Parameters {
			params = append(params, string(p))
		}
		c.params = append(c.params, params)
	case 'S':
		c.write = understand(c.queries, c.params)
		c.write.life = c.p.life
		c.queries, c.params = nil, nil
	case 'E', 'X':
	default:
		panic(fmt.Sprintf("a keeper sent message %q", kind))
	}
	return true
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// understand parses a pipeline: BEGIN, settings, the write, COMMIT.
func understand(queries []string, params [][]string) *write {
	if len(queries) != 4 || len(params) != 4 {
		panic(fmt.Sprintf("a keeper sent %d statements", len(queries)))
	}
	p := params[2]
	number := func(i int) int64 {
		n, err := strconv.ParseInt(p[i], 10, 64)
		must(err)
		return n
	}
	switch queries[2] {
	case texts["acquire"]:
		a := rows.Acquire{
			Namespace: p[0], Owner: p[1], Node: p[2], Window: number(5), Lowest: int(number(6)),
			Highest: int(number(7)), Longest: number(8),
		}
		return &write{acquire: &a, owner: a.Owner}
	case texts["renew"]:
		n := rows.Renew{
			Namespace: p[0], Worker: int(number(1)), Owner: p[2], Term: number(3),
			Acknowledged: number(4), Wanted: number(5), Window: number(6),
		}
		return &write{renew: &n, owner: n.Owner}
	case texts["release"]:
		l := rows.Release{
			Namespace: p[0], Worker: int(number(1)), Owner: p[2], Term: number(3), Acknowledged: number(4),
		}
		return &write{release: &l, owner: l.Owner}
	}
	panic("a keeper sent a statement that is in no file:\n" + queries[2])
}

func (c *conn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *conn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *conn) SetDeadline(time.Time) error      { return nil } // the history decides when a deadline passes
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

func encode(messages ...pgproto3.BackendMessage) (b []byte) {
	for _, m := range messages {
		var err error
		b, err = m.Encode(b)
		must(err)
	}
	return b
}

// acknowledged is the server's side of a pipeline that succeeded, perhaps with a notice, and with the tag of its
// COMMIT.
func acknowledged(a rows.Answer, notice *pgproto3.NoticeResponse, tag string) []byte {
	one := func(row [][]byte, tag string) []byte {
		b := encode(&pgproto3.ParseComplete{}, &pgproto3.BindComplete{})
		if row != nil {
			b = append(b, encode(&pgproto3.DataRow{Values: row})...)
		}
		return append(b, encode(&pgproto3.CommandComplete{CommandTag: []byte(tag)})...)
	}
	values := make([][]byte, len(a))
	for i, v := range a {
		switch v := v.(type) {
		case nil:
		case bool:
			values[i] = []byte(map[bool]string{true: "t", false: "f"}[v])
		default:
			values[i] = fmt.Append([]byte{}, v)
		}
	}
	b := one(nil, "BEGIN")
	b = append(b, one([][]byte{[]byte("on")}, "SELECT 1")...)
	b = append(b, one(values, "SELECT 1")...)
	b = append(b, encode(&pgproto3.ParseComplete{}, &pgproto3.BindComplete{})...)
	if notice != nil {
		b = append(b, encode(notice)...)
	}
	return append(b,
		encode(&pgproto3.CommandComplete{CommandTag: []byte(tag)}, &pgproto3.ReadyForQuery{TxStatus: 'I'})...)
}

// cancelledWait is the warning of PostgreSQL when somebody cancelled a commit's wait for the synchronous standby.
var cancelledWait = &pgproto3.NoticeResponse{
	Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: "01000",
	Message: "canceling wait for synchronous replication due to user request",
}

func failed(code, message string) []byte {
	return encode(&pgproto3.ErrorResponse{
		Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code, Message: message,
	},
		&pgproto3.ReadyForQuery{TxStatus: 'E'})
}
