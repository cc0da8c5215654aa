package decide

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
	"pgflurry/sqlfuncs"
)

// TakeFreshWorker gives the function another worker, with a mark of its own. The clock once stood far ahead, so the old
// worker's mark is out of reach. Everything else is already in place.
//
// A call under way may have read the old text of the function. It would use the old worker in a tick of the new
// beginning. So the transactions that were open when the text changed must end first.
//
// The order makes an interruption harmless at each step. First comes the claim: a failure after it wastes a worker.
// Then come text and lanes: until the marks are set, the function waits for the clock as before. Then come the marks.
// At last the home records how far the old worker got.
func TakeFreshWorker(ctx context.Context, d *session.Database, h *Home, version string) error {
	present, err := namespace.Read(ctx, d.Conn)
	if err != nil {
		return err
	}
	switch {
	case present.Home == "":
		h = &Home{Database: d, row: present}
	case h == nil:
		return session.Refuse("Add --home with the URL of that database.", "the workers of database %q are in %s",
			present.Database, present.Home)
	}
	c, err := h.claim(ctx, applicantOf(d, version))
	if err != nil {
		return err
	}
	err = d.InTransaction(ctx, "writing the worker into the function", func() error {
		if err := d.Write(ctx, "taking worker "+fmt.Sprint(c.worker), sql.TakeWorker, c.worker, c.id); err != nil {
			return err
		}
		if err := d.Script(ctx, "writing the worker into the function", sqlfuncs.Install().SQL); err != nil {
			return err
		}
		return d.Script(ctx, "leaving the lanes of the old worker", sql.LeaveLanes)
	})
	if err != nil {
		return err
	}
	d.Doing("waiting for transactions that are under way")
	if err := outlive(ctx, d.Conn); err != nil {
		return err
	}
	var mark int64
	err = d.InTransaction(ctx, "beginning anew", func() error {
		results, err := d.Conn.PgConn().Exec(ctx, sql.FunctionMark).ReadAll()
		if err != nil {
			return session.Failed("reading the mark of the function", err)
		}
		if _, err := fmt.Sscan(string(results[len(results)-1].Rows[0][0]), &mark); err != nil {
			return fmt.Errorf("reading the mark of the function: %w", err)
		}
		return d.Script(ctx, "beginning anew", fmt.Sprintf(sql.BeginAtMark, c.mark, mark))
	})
	if err != nil {
		return err
	}
	return h.giveBack(ctx, present.FunctionWorker, present.Claim, mark)
}

// patienceForOthers is how long outlive waits.
const patienceForOthers = 30 * time.Second

// outlive waits until every transaction of this database that is open now has ended.
func outlive(ctx context.Context, conn *pgx.Conn) error {
	open, err := session.Texts(ctx, conn, "looking for transactions that are under way", sql.UnderWay)
	if err != nil {
		return err
	}
	for end := time.Now().Add(patienceForOthers); ; time.Sleep(20 * time.Millisecond) {
		var left []int
		if err := conn.QueryRow(ctx, sql.StillUnderWay, open).Scan(&left); err != nil {
			return session.Failed("waiting for transactions that are under way", err)
		}
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(end) {
			return session.Refuse("Let them end, or end them with pg_terminate_backend(PID), and run it again.",
				"transactions that were open before are open still, and may draw with the old worker: "+
					"the sessions with PIDs %v", left)
		}
	}
}
