package relay

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/primary"
	"pgflurry/tests/support/server"
)

// statements counts the statements of a connection.
type statements int

func (n *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	*n++
	return ctx
}

func (n *statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestWhatAServerDoesNotTellIsAskedOnceForEachConnection(t *testing.T) {
	t.Parallel()
	server.Binaries(t)
	url := server.Private(t, nil).URL("postgres")
	server.Exec(t, url, "CREATE ROLE asker")
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	asked := new(statements)
	config.Tracer = asked
	var question primary.Question
	for _, c := range []struct {
		refused          string // from then on the server refuses them
		told             primary.Answer
		first, afterward statements
	}{
		{"", primary.Answer{Timeline: 1, System: 1}, 1, 1},
		{"pg_control_system()", primary.Answer{Timeline: 1}, 2, 1},
		{"pg_walfile_name(pg_lsn)", primary.Answer{}, 3, 1},
	} {
		if c.refused != "" {
			server.Exec(t, url, "REVOKE EXECUTE ON FUNCTION "+c.refused+" FROM PUBLIC")
		}
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		server.Do(t, conn, "SET ROLE asker")
		for _, expected := range []statements{c.first, c.afterward} {
			*asked = 0
			told, err := question.Ask(server.Within(t), conn)
			if told.System != 0 {
				told.System = 1 // the server chooses this value
			}
			if err != nil || told != c.told || *asked != expected {
				t.Errorf("without %q: %+v (%v) by %d statements; expected %+v by %d",
					c.refused, told, err, *asked, c.told, expected)
			}
		}
	}
}
