package proxy

import (
	"log/slog"
	"net"
)

// whose makes each line of a session tell whose it is. log has its number and the client's address; here come user and
// database, and the proxy's port towards upstream, by which pg_stat_activity.client_port finds the backend. A Unix
// socket has none.
func (s *session) whose(log *slog.Logger) *slog.Logger {
	fields := []any{"user", s.opening.user, "database", s.opening.database}
	if local, tcp := s.upstream.LocalAddr().(*net.TCPAddr); tcp {
		fields = append(fields, "upstream_port", local.Port)
	}
	return log.With(fields...)
}

// upstreamFatal: upstream has said why it ends. Before the first ReadyForQuery it lets the client not in. What it said
// is for the client.
func (s *session) upstreamFatal(body []byte) {
	if s.conversation.started.Load() {
		s.because(closedUpstream)
		return
	}
	s.because(closedRefused)
	s.log.Info("login refused by PostgreSQL", "sqlstate", string(errorField(body, 'C')))
}
