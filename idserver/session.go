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
//	login.go   makes it, and calls begin with the options of the startup packet, in the order in which PostgreSQL
//	           applies them. It writes AuthenticationOk, what begin appended, BackendKeyData and ReadyForQuery I.
//	begin      begin([]option, []byte) ([]byte, error) in settings.go applies the options, and appends a
//	           ParameterStatus for each parameter that is reported. The client is told a problem as FATAL.
//	run        serves until the end, and returns why that is: a problem, which Serve tells the client as FATAL;
//	           errGoodbye for Terminate; or the error of the connection. It never closes conn. While it runs nobody
//	           else reads conn or writes to it, with one exception: a drain that has waited long enough ends ctx,
//	           writes its farewell by toClient, and closes conn.
//	a drain    sets Server.draining, then a read deadline on conn, which means: look whether you are to go. run
//	           returns errDraining if its status is I, no batch is unfinished, and its inbox is empty.
//	idle       run returns errIdle when its client has sent nothing for Server.rules.idleTimeout, whatever its status.
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
