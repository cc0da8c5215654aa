package admin

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// dropOldest is a listener that keeps a limited number of connections open. A further connection closes the oldest. So
// a client that holds all of them cannot keep a probe away.
type dropOldest struct {
	net.Listener
	limit int

	mu   sync.Mutex
	open list.List // of net.Conn, the oldest first
}

func newDropOldest(listener net.Listener, limit int) *dropOldest {
	return &dropOldest{Listener: listener, limit: limit}
}

// Accept waits for the next connection.
func (l *dropOldest) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open.Len() >= l.limit {
		oldest := l.open.Remove(l.open.Front()).(net.Conn)
		oldest.Close() // its owner closes it again, which does nothing
	}
	return &counted{Conn: conn, of: l, place: l.open.PushBack(conn)}, nil
}

type connectionKey struct{}

// withConnection puts a connection into the context of its requests.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// keepConnection makes the connection of a request the last one to give way.
func keepConnection(r *http.Request) {
	if c, is := r.Context().Value(connectionKey{}).(*counted); is {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.of.open.MoveToBack(c.place)
	}
}

// counted is one of these connections.
type counted struct {
	net.Conn
	of    *dropOldest
	place *list.Element
}

// Close frees the connection's place.
func (c *counted) Close() error {
	c.of.mu.Lock()
	c.of.open.Remove(c.place) // no effect if it was the oldest and was closed already
	c.of.mu.Unlock()
	return c.Conn.Close()
}
