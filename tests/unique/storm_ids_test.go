package unique

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/proxy/scram"
	"pgflurry/tests/support/server"
)

// The clients of the ID databases in a storm. Their sessions go on while PostgreSQL is away.

// idLogins has, for each node, flags with another way to let clients in.
var idLogins = []func(*storm) (flags []string){
	func(*storm) []string { return []string{"--id-auth", "trust"} },
	func(s *storm) []string {
		s.do("INSERT INTO pgflurry.client (name, verifier) VALUES ($1, $2)", idUser, idVerifier(s))
		return nil
	},
	func(s *storm) []string {
		s.t.Helper()
		file := filepath.Join(s.t.TempDir(), "clients")
		if err := os.WriteFile(file, fmt.Appendf(nil, "%q %q\n", idUser, idVerifier(s)), 0o600); err != nil {
			s.t.Fatal(err)
		}
		return []string{"--id-auth-file", file}
	},
}

const idUser, idPassword = "storm", "after the calm"

func idVerifier(s *storm) string {
	s.t.Helper()
	verifier, err := scram.NewVerifier(idPassword, scram.DefaultIterations)
	if err != nil {
		s.t.Fatal(err)
	}
	return verifier.Text()
}

// idURL returns the URL of a proxy's ID database.
func idURL(proxy string) string {
	u, err := url.Parse(proxy)
	if err != nil {
		panic(err) // the test itself made this URL
	}
	u.User, u.Path = url.UserPassword(idUser, idPassword), "/pgflurry"
	return u.String()
}

// outages records what the ID databases give while PostgreSQL is away, and the greatest tick of each worker.
type outages struct {
	away    atomic.Bool
	given   atomic.Int64               // IDs of statements that began and ended during an outage
	refused []chan struct{}            // by node: signals a statement that was refused because there were no IDs
	seen    []atomic.Pointer[string]   // by node: how the last statement or login of a client ended
	newest  [stormWorkers]atomic.Int64 // greatest tick of the IDs of a worker
	since   int64                      // a failover lost the marks of earlier IDs: below() skips those
}

// stormWorkers is the number of workers in a storm's layout.
const stormWorkers = 8

// pipelineOf draws n single IDs in one batch of the extended protocol.
func pipelineOf(ctx context.Context, conn *pgconn.PgConn, n int, ids []int64) ([]int64, error) {
	pipeline := conn.StartPipeline(ctx)
	for range n {
		pipeline.SendQueryParams("SELECT next_snowflake()", nil, nil, nil, nil)
	}
	if err := pipeline.Sync(); err != nil {
		return ids, err
	}
	for {
		results, err := pipeline.GetResults()
		if err != nil || results == nil {
			return ids, errors.Join(err, pipeline.Close())
		}
		rows, is := results.(*pgconn.ResultReader)
		if !is {
			continue
		}
		for rows.NextRow() {
			id, err := strconv.ParseInt(string(rows.Values()[0]), 10, 64)
			if err != nil {
				return ids, err
			}
			ids = append(ids, id)
		}
		if _, err := rows.Close(); err != nil {
			return ids, errors.Join(err, pipeline.Close())
		}
	}
}

// drawInside is drawMany for the ID database of a node.
func (s *storm) drawInside(
	ctx context.Context, node int, conn *pgconn.PgConn, dice *rand.Rand, ids []int64,
) (drawn []int64, err error) {
	away := s.outages.away.Load()
	if dice.IntN(4) == 0 {
		limited, cancel := context.WithTimeout(ctx, patience)
		drawn, err = pipelineOf(limited, conn, 1+dice.IntN(50), ids)
		cancel()
	} else {
		drawn, err = drawMany(ctx, conn, dice, ofIDs, ids)
	}
	if away && s.outages.away.Load() {
		s.outages.given.Add(int64(len(drawn)))
	}
	s.sawInside(node, fmt.Sprintf("a statement of %d IDs", len(drawn)), err)
	if said, is := errors.AsType[*pgconn.PgError](err); is && said.Code == "57P03" {
		select {
		case s.outages.refused[node] <- struct{}{}:
		default: // nobody waits for the signal
		}
		server.Pause(ctx, 5*time.Millisecond) // leave the processor to others
	}
	return drawn, err
}

// sawInside keeps how the last statement or login in the ID database of a node ended, for the report of a wait.
func (s *storm) sawInside(node int, what string, err error) {
	text := fmt.Sprintf("%s, at %s, error %v", what, time.Now().Format("15:04:05.000"), err)
	s.outages.seen[node].Store(&text)
}

// noteTicks keeps the greatest tick of each worker.
func (s *storm) noteTicks(ids []int64) {
	for _, id := range ids {
		newest := &s.outages.newest[s.workerOf(id)]
		for tick, seen := s.tickOf(id), newest.Load(); tick > seen; seen = newest.Load() {
			if newest.CompareAndSwap(seen, tick) {
				break
			}
		}
	}
}

// gone waits until the ID database of each proxy has used up its grant. Call it while PostgreSQL is away and cannot
// come back.
func (s *storm) gone() {
	s.t.Helper()
	s.database.Lead("")
	s.outages.away.Store(true)
	defer s.outages.away.Store(false)
	s.spent()
}

// spent waits until the ID database of each proxy refuses to give IDs.
func (s *storm) spent() {
	s.t.Helper()
	for _, refused := range s.outages.refused {
		select {
		case <-refused: // a signal from before the outage
		default:
		}
	}
	deadline := time.After(patience)
	for i, refused := range s.outages.refused {
		select {
		case <-refused:
		case <-deadline:
			last := "nothing"
			if seen := s.outages.seen[i].Load(); seen != nil {
				last = *seen
			}
			// It may give IDs still, or let nobody in, or have ended.
			s.t.Fatalf("PostgreSQL gives no IDs. Within %v no statement in the ID database of %s was refused for "+
				"want of them; its clients saw last: %s", patience, s.nodes[i].name, last)
		}
	}
}

// below fails if an ID is at or above the mark of its worker. Call it before proxies reach the server again.
func (s *storm) below() {
	s.t.Helper()
	for worker := range int64(stormWorkers) {
		newest := s.outages.newest[worker].Load()
		if worker < functions || newest == 0 || newest < s.outages.since {
			continue
		}
		if mark := s.mark(worker); newest >= mark {
			s.t.Errorf("there is an ID of worker %d and tick %d, but its mark is %d", worker, newest, mark)
		}
	}
}

// forget replaces below after a failover that lost acknowledged commits: IDs up to now may be above the marks.
func (s *storm) forget() {
	s.t.Helper()
	s.outages.since = ask[int64](s.room, "SELECT pgflurry.ticks(clock_timestamp())")
}

// drawInsideAgain waits until the ID database of a proxy gives IDs again.
func (s *storm) drawInsideAgain(n *node) {
	s.t.Helper()
	conn := s.again(idURL(*n.url.Load()))
	defer conn.Close(context.Background()) // a long storm has many faults
	for deadline := time.Now().Add(patience); ; {
		id, err := one(conn)
		if err == nil {
			s.note(id)
			return
		}
		if said, is := errors.AsType[*pgconn.PgError](err); !is || said.Code != "57P03" || time.Now().After(deadline) {
			s.t.Fatalf("%s: its ID database says %v", n.name, err)
		}
	}
}
