package unique

import (
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAProxyThatWasStoppedWhileItsWorkerWasTakenOverGivesNoIDOfIt(t *testing.T) {
	t.Parallel()
	r := newRoom(t, oneWorker)
	first := program.Serve(t, r.direct, "first", short)
	conn := server.Connect(t, first.URL)
	r.drawUntil(conn, r.by(1))

	first.Signal(syscall.SIGSTOP)
	second := program.ServeUnleased(t, r.direct, "second", short)
	second.Leased() // it takes over the only worker
	other := server.Connect(t, second.URL)
	r.drawUntil(other, r.by(1))

	const waiting = 200 // draws that wait in the socket; the stopped proxy reads them first when it wakes
	pipeline := conn.PgConn().StartPipeline(t.Context())
	for range waiting {
		pipeline.SendQueryParams("SELECT next_snowflake()", nil, nil, nil, nil)
	}
	if err := pipeline.Sync(); err != nil {
		t.Fatal(err)
	}
	r.draw(other, 100)
	first.Signal(syscall.SIGCONT)
	for range waiting {
		id := nextOf(t, pipeline)
		r.note(id)
		if r.workerOf(id) != function {
			t.Errorf("ID %d is of worker %d, which somebody else has", id, r.workerOf(id))
		}
	}
	if err := pipeline.Close(); err != nil {
		t.Error(err)
	}
	first.Line("the worker is lost")
	r.draw(other, 100)
}

// nextOf returns the ID of the pipeline's next query.
func nextOf(t *testing.T, pipeline *pgconn.Pipeline) int64 {
	t.Helper()
	result, err := pipeline.GetResults()
	if err != nil {
		t.Fatal(err)
	}
	reader, ok := result.(*pgconn.ResultReader)
	if !ok {
		t.Fatalf("got %T, expected rows", result)
	}
	rows := reader.Read()
	if rows.Err != nil || len(rows.Rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows.Rows), rows.Err)
	}
	id, err := strconv.ParseInt(string(rows.Rows[0][0]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestAReplacementOnTheSameWorkerBeginsAboveTheMarkOfTheKilledProxy(t *testing.T) {
	t.Parallel()
	r := newRoom(t, oneWorker)
	var mark int64
	for range 3 {
		p := program.ServeUnleased(t, r.direct, "a pod by another name each time", short)
		conn := server.Connect(t, p.URL)
		r.draw(conn, 100) // the function answers while the worker is in quarantine
		p.Leased()
		if id := r.drawUntil(conn, r.by(1)); r.tickOf(id) < mark {
			t.Errorf("the first ID is of tick %d, below the mark %d of the killed one", r.tickOf(id), mark)
		}
		r.draw(conn, 1000)
		p.Signal(syscall.SIGKILL)
		p.End()
		mark = r.mark(1)
	}
}
