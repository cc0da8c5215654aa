package watch

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/scripted"
)

// The look goes to --upstream, which is no URL.
func TestTheHintForAnUpstreamWithoutPostgreSQLIsAboutItsFlag(t *testing.T) {
	for _, host := range []string{"127.0.0.1", t.TempDir()} {
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
