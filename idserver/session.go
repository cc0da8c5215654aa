package idserver

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"pgflurry/proxy/frame"
)

// option is a parameter of the startup packet, as it came there.
type option struct{ name, value string }

// session is one client that has logged in. The goroutine of Serve owns all of it but what stands under shared.
//
// What login and the rest have to agree on:
//
//	login.go   makes it, and calls begin with what the startup packet wants, in the order in which PostgreSQL applies
//	           it. It writes AuthenticationOk, what begin appended, BackendKeyData and ReadyForQuery I.
//	begin      applies the options (settings.go) and appends one ParameterStatus for each parameter that is reported.
//	           A problem ends the session: the client is told as FATAL.
//	run        serves until the end, and returns why that is: a problem, which Serve then tells the client as FATAL;
//	           errGoodbye for Terminate; or the error of the connection.
//	           It never closes conn. Nobody else reads conn or writes to it while it runs, but for a drain that has
//	           waited long enough: that writes its farewell by toClient, ends ctx and closes conn.
//	begin      applies the options (settings.go) and appends a ParameterStatus for each parameter that is reported.
//	           errDraining where its status is I, no batch is unfinished, and nothing unread is in its inbox.
//	idle       run returns errIdle when its client has sent nothing for rules().idleTimeout, whatever its status.
type session struct {
	server   *Server
	ctx      context.Context // ends with the session
	cancel   context.CancelFunc
	log      *slog.Logger
	conn     net.Conn
	user     string
	since    time.Time
	in       *frame.Inbox
	toClient *frame.Writer
	out      []byte // replies not yet written to the client; nil: none

	// shared: written by run, read by anybody.
	status      atomic.Int32           // of the last ReadyForQuery: wire.StatusIdle …
	application atomic.Pointer[string] // application_name; nil: none
	counts      counts
}
