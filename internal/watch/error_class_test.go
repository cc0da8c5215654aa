package watch

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/tests/support/scripted"
)

// The look goes to --upstream, which is no URL.
func TestTheHintForAnUpstreamWithoutPostgreSQLIsAboutItsFlag(t *testing.T) {
	for _, host := range []string{"127.0.0.1", t.TempDir(), "no-such-host.invalid"} {
		config := someConfig(t, "127.0.0.1:1")
		config.Host = host
		s, log := settingsOf(t, config)
		d, _ := watchOf(s)
		d.unanswered(d.look(t.Context()))
		text := log.String()
		if !strings.Contains(text, "--upstream says where") || strings.Contains(text, "postgres://") {
			t.Errorf("at %s the log has:\n%s", host, text)
		}
	}
}

// /readyz goes by it: who is refused for want of places has found a PostgreSQL.
func TestAServerThatRefusesTheLookIsReached(t *testing.T) {
	for code, reached := range map[string]bool{"53300": true, "28000": true, "57P03": false} {
		at := scripted.Refusing(t, &pgproto3.ErrorResponse{Severity: "FATAL", Code: code})
		s, _ := settingsOf(t, someConfig(t, at))
		d, _ := watchOf(s)
		d.unanswered(d.look(t.Context()))
		if found := d.State().Found; found.IsZero() == reached {
			t.Errorf("%s: found at %v", code, found)
		}
	}
}

// A lease database that cannot lease ends the process, which cuts the first look short.
func TestAProcessThatEndsDoesNotWarnOfSequences(t *testing.T) {
	at, _ := scripted.Server(t)
	config := someConfig(t, "127.0.0.1:1")
	config.Config = *at
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	s, log := settingsOf(t, config)
	d, _ := watchOf(s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.mender.mend(ctx, conn)
	if log.Len() > 0 {
		t.Errorf("the log has:\n%s", log)
	}
}
