package driver

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/bench/trial"
)

// FixedBytes is one client on a plain socket. For each ID it writes the same bytes and reads one reply. So different
// costs are those of the servers, and no driver plays a part.
type FixedBytes struct {
	dial  func(context.Context) (net.Conn, error)
	ask   []byte
	reply func(*bufio.Reader) error // reads one reply, which must hold an ID
}

// From makes a turn of the draw.
func (f FixedBytes) From() trial.Turn {
	return drawFrom(1, func(ctx context.Context) (client, error) {
		conn, err := f.dial(ctx)
		if err != nil {
			return nil, err
		}
		awake := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(0, 0)) })
		return &plainClient{FixedBytes: f, conn: conn, in: bufio.NewReader(conn), awake: awake}, nil
	})
}

// plainClient is the connection of a FixedBytes.
type plainClient struct {
	FixedBytes
	conn  net.Conn
	in    *bufio.Reader
	awake func() bool // stops watching the context
}

func (c *plainClient) trip(context.Context) (int, error) {
	if _, err := c.conn.Write(c.ask); err != nil {
		return 0, err
	}
	return 1, c.reply(c.in)
}

func (c *plainClient) close(context.Context) {
	c.awake()
	_ = c.conn.Close()
}

// SimpleBytes asks PostgreSQL, or a server in front of it, by a Query.
func SimpleBytes(target, sql string) (FixedBytes, error) {
	ask, err := (&pgproto3.Query{String: sql}).Encode(nil)
	return FixedBytes{dial: func(ctx context.Context) (net.Conn, error) {
		return dialPostgres(ctx, target, "")
	}, ask: ask, reply: oneRow}, err
}

// PreparedBytes asks by Bind, Execute and Sync of a prepared statement.
func PreparedBytes(target, sql string) (FixedBytes, error) {
	f := FixedBytes{
		dial: func(ctx context.Context) (net.Conn, error) { return dialPostgres(ctx, target, sql) }, reply: oneRow,
	}
	for _, message := range []pgproto3.FrontendMessage{
		&pgproto3.Bind{PreparedStatement: prepared, ResultFormatCodes: binaryResult}, &pgproto3.Execute{},
		&pgproto3.Sync{},
	} {
		var err error
		if f.ask, err = message.Encode(f.ask); err != nil {
			return f, err
		}
	}
	return f, nil
}

// RedisBytes asks Redis for INCR. target is a redis:// URL of a server without password and TLS.
func RedisBytes(target string) (FixedBytes, error) {
	options, err := redisOptions(target)
	if err != nil {
		return FixedBytes{}, err
	}
	ask := fmt.Appendf(nil, "*2\r\n$4\r\nINCR\r\n$%d\r\n%s\r\n", len(redisKey), redisKey)
	return FixedBytes{dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", options.Addr)
	}, ask: ask, reply: oneInteger}, nil
}

// dialPostgres logs in, prepares the statement if there is one, and returns the plain connection.
func dialPostgres(ctx context.Context, target, sql string) (net.Conn, error) {
	conn, err := pgconn.Connect(ctx, target)
	if err != nil {
		return nil, err
	}
	if sql != "" {
		if _, err := conn.Prepare(ctx, prepared, sql, nil); err != nil {
			return nil, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
		}
	}
	plain, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	return plain.Conn, nil
}

// oneRow reads messages up to ReadyForQuery. One of them must be a DataRow.
func oneRow(in *bufio.Reader) error {
	const header = 5 // type, and a length that includes itself
	for rows := 0; ; {
		head, err := in.Peek(header)
		if err != nil {
			return err
		}
		kind, length := head[0], int(binary.BigEndian.Uint32(head[1:]))
		switch kind {
		case 'D':
			rows++
		case 'E':
			return refusal(in, length)
		}
		if _, err := in.Discard(1 + length); err != nil {
			return err
		}
		if kind != 'Z' {
			continue
		}
		if rows != 1 {
			return fmt.Errorf("%w: %d came, expected 1", errRows, rows)
		}
		return nil
	}
}

// refusal reads an ErrorResponse.
func refusal(in *bufio.Reader, length int) error {
	message := make([]byte, 1+length)
	if _, err := io.ReadFull(in, message); err != nil {
		return err
	}
	var said pgproto3.ErrorResponse
	if err := said.Decode(message[5:]); err != nil {
		return err
	}
	return pgconn.ErrorResponseToPgError(&said)
}

// oneInteger reads a line of Redis, which must be an integer.
func oneInteger(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	if err == nil && line[0] != ':' {
		err = fmt.Errorf("the reply of Redis is %q; expected an integer", line)
	}
	return err
}
