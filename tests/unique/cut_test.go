package unique

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestWithTheLeaseCutOffIDsGoOnToTheMarkAndThenPostgreSQLAnswers(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(*network.Link){
		"packets are dropped":     (*network.Link).Silence,
		"connections are refused": func(l *network.Link) { l.Lead("") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t, oneWorker)
			link, lease := network.To(t, r.direct)
			p := program.Serve(t, r.direct, "cut off", short, "--lease-database", lease)
			conn := server.Connect(t, p.URL)
			r.drawUntil(conn, r.by(1))
			cut(link)
			r.drawUntil(conn, r.by(function))
			mark := r.mark(1) // a little above the acknowledged one if an answer was lost
			rival := program.ServeUnleased(t, r.direct, "rival", short)
			rival.Leased()
			other := server.Connect(t, rival.URL)
			if first := r.drawUntil(other, r.by(1)); r.tickOf(first) < mark {
				t.Errorf("the rival begins at tick %d, below the mark %d", r.tickOf(first), mark)
			}
			r.draw(conn, 100)

			link.Heal()
			if name == "connections are refused" {
				link.Lead(server.Parse(t, r.direct).Host)
			}
			p.Line("the worker is lost")
			for range 100 {
				if id := r.draw(conn, 1)[0]; r.workerOf(id) != function {
					t.Fatalf("ID %d is of the worker that the rival has", id)
				}
				r.draw(other, 1)
			}
		})
	}
}

// The way of the sessions to PostgreSQL is silent, too. The proxy still answers draws, and a statement for PostgreSQL
// waits.
func TestWithEverythingCutOffAnOpenSessionHasIDsUpToTheMark(t *testing.T) {
	t.Parallel()
	r := newRoom(t, oneWorker)
	link, through := network.To(t, r.direct)
	p := program.Serve(t, through, "cut off", short)
	conn := server.Connect(t, p.URL)
	r.drawUntil(conn, r.by(1))
	link.Silence()
	var last int64
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		var id int64
		err := conn.QueryRow(ctx, "SELECT next_snowflake()", pgx.QueryExecModeSimpleProtocol).Scan(&id)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			break // forwarded, so it gets no reply
		}
		if err != nil {
			t.Fatal(err)
		}
		r.note(id)
		last = id
	}
	if mark := r.mark(1); r.workerOf(last) != 1 || r.tickOf(last) >= mark {
		t.Errorf("the last ID is of worker %d and tick %d; the mark is %d", r.workerOf(last), r.tickOf(last), mark)
	}
	link.Heal()
	r.drawUntil(r.again(p.URL), r.by(1))
}
