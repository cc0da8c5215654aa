package proxy

import (
	"log/slog"
	"net"
	"slices"

	"pgflurry/proxy/internal/frontend"
	"pgflurry/proxy/internal/wire"
)

// sessionLog adds to each log line whose session it is. log has the session's number and the client's address already.
// New are user, database, and the proxy's port towards upstream. pg_stat_activity.client_port has that port, so you can
// find the backend. A Unix socket has none.
func sessionLog(log *slog.Logger, user, database string, upstream net.Conn) *slog.Logger {
	fields := []any{"user", user, "database", database}
	if local, tcp := upstream.LocalAddr().(*net.TCPAddr); tcp {
		fields = append(fields, "upstream_port", local.Port)
	}
	return log.With(fields...)
}

// serverStops are the SQLSTATEs of a server, or an administrator, that ends sessions which have done nothing wrong.
var serverStops = []string{"57P01", "57P02", "57P03"}

// upstreamFatal notes that upstream has sent a FATAL. Before the first ReadyForQuery that is a refused login. Its text
// is for the client only.
func (e *pair) upstreamFatal(body []byte) {
	code := string(wire.ErrorField(body, 'C'))
	if e.conversation.Started() {
		e.Because(frontend.ClosedUpstream)
		if slices.Contains(serverStops, code) {
			e.upstreamLost()
		}
		return
	}
	e.Because(frontend.ClosedRefused)
	e.log.Info("login refused by PostgreSQL", "sqlstate", code)
}

// isFatal reads the severity of an ErrorResponse from the field that is never translated.
func isFatal(body []byte) bool {
	severity := string(wire.ErrorField(body, 'V'))
	return severity == "FATAL" || severity == "PANIC"
}
