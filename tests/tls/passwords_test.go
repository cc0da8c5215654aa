package tls

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/proxy"
	"pgflurry/tests/support/server"
)

// PostgreSQL normalizes a password (SASLprep) when a role gets it. The proxy has to get the same result.
func TestPasswordsThatPostgreSQLPreparesLogInThroughAProxyThatAsks(t *testing.T) {
	t.Parallel()
	s := secured(t)
	direct := server.Migrated(t)
	name := role(t, direct, "login_scram", "scram-sha-256")
	at := inFront(t, direct, func(settings *proxy.Settings) {
		settings.ClientTLS, settings.RequireTLS, settings.AskPassword = offer(t, s.server), true, true
	})
	for _, password := range []string{"a\u00a0b", "a\u200bb", "\u00ad", "\u00aa\U0001f642", "\U0001f130", "\u06271"} {
		server.Exec(t, direct, "SET password_encryption = 'scram-sha-256'; ALTER ROLE "+name+" PASSWORD '"+password+"'")
		conn, err := pgx.Connect(t.Context(), with(server.As(t, at, name, password), "sslmode=require"))
		if err != nil {
			t.Errorf("with the password %+q: %v", password, err)
			continue
		}
		conn.Close(t.Context())
	}
}
