package idserver

import (
	"context"
	"log/slog"
	"net"
	"time"

	"pgflurry/proxy/frame"
)

// session is one client that has logged in. Its goroutine owns all of it but what Server reads and says so.
type session struct {
	server *Server
	ctx    context.Context // ends with the session
	cancel context.CancelFunc
	log    *slog.Logger
	conn   net.Conn
	user   string
	since  time.Time
	// parameters are those of the startup packet, but for user and database.
	parameters map[string]string
	in         *frame.Inbox
	toClient   *frame.Writer
	out        []byte // replies not yet written to the client; nil: none
}
