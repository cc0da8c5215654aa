package namespace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Seen is the state of a database at one look, for Compare.
type Seen struct {
	Namespace
	Address string         // host:port/name, for messages
	OID     uint32         // of the database
	Started time.Time      // start of its server: two servers never start in the same microsecond
	Standby bool           // the server takes no writes
	Claims  map[int]string // in a home: the claim of each database function that it knows, by worker
}

// Look reads the row in the database of conn, and what else Compare needs. Its errors are those of Read.
func Look(ctx context.Context, conn *pgx.Conn) (Seen, error) {
	n, err := Read(ctx, conn)
	if err != nil {
		return Seen{}, err
	}
	s := Seen{Namespace: n, Claims: map[int]string{}}
	var workers []int
	var owners []string
	err = conn.QueryRow(ctx, sql.Look).Scan(&s.OID, &s.Started, &s.Standby, &workers, &owners)
	if err != nil {
		return Seen{}, readError(conn, err)
	}
	for i, worker := range workers {
		s.Claims[worker] = owners[i]
	}
	return s, nil
}

// A Collision is a reason why databases may not be parts of one ID space.
type Collision struct {
	A, B    int    // indexes in the list; equal if it concerns one database alone
	Workers *Range // workers with which both may make IDs; nil: any, or none that are known
	Why     string // a sentence without its full stop
	Hint    string // whole sentences
}

// Comparison is the result of Compare.
type Comparison struct {
	Collisions []Collision
	Notes      []string // what was not compared, or need not be, in whole sentences
}

// Compare looks for reasons why databases cannot be parts of one ID space: its homes, and the databases that have
// joined them. It compares their present rows, and cannot know of a database that is not in the list.
func Compare(list []Seen) Comparison {
	var c Comparison
	for i, s := range list {
		if why, copied := s.Copied(); copied {
			c.Collisions = append(c.Collisions, Collision{i, i, nil, why, `It gives no IDs. ` +
				`"pgflurry migrate up" says what it can become.`})
			continue
		}
		if s.Closed {
			c.Notes = append(c.Notes, s.Address+" was closed for good: it gives no IDs.")
		}
		if s.Home != "" && !s.homeIn(list) {
			c.Notes = append(c.Notes, fmt.Sprintf("%s has joined the ID space at %s, and that database is not among "+
				"these. Give its URL as well: it knows whose worker %d is.", s.Address, s.Home, s.FunctionWorker))
		}
	}
	for i := range list {
		for j := i + 1; j < len(list); j++ {
			c.pair(list, i, j)
		}
	}
	return c
}

func (c *Comparison) pair(list []Seen, i, j int) {
	a, b := list[i], list[j]
	switch {
	case a.is(b):
		what := "are the same database"
		if a.Standby != b.Standby || !a.Started.Equal(b.Started) {
			what = "are one database and its replica"
		}
		c.Notes = append(c.Notes, fmt.Sprintf("%s and %s %s.", a.Address, b.Address, what))
	case a.ID != b.ID:
		c.Collisions = append(c.Collisions, foreign(a, b, i, j))
	case !a.Layout.Equal(b.Layout):
		c.Collisions = append(c.Collisions, Collision{
			i, j, nil,
			fmt.Sprintf("one namespace has two layouts: %s and %s", a.Layout.Full(), b.Layout.Full()),
			"A layout never changes, so somebody has written into pgflurry.namespace. Stop one of the two.",
		})
	case (a.Region == nil) == (b.Region == nil) &&
		(a.DatabaseWorkers != b.DatabaseWorkers || !slices.Equal(a.Foreign, b.Foreign)):
		c.Collisions = append(c.Collisions, Collision{
			i, j, nil,
			fmt.Sprintf("one namespace keeps %d workers for functions here and %d there, and its foreign workers are "+
				"%v here and %v there", a.DatabaseWorkers, b.DatabaseWorkers, a.Foreign, b.Foreign),
			"That never changes, so somebody has written into pgflurry.namespace. Stop one of the two.",
		})
	case a.silent() || b.silent():
	default:
		if workers, why := a.shared(b); why != "" {
			c.Collisions = append(c.Collisions, Collision{i, j, &workers, why, a.remedy(b)})
		}
	}
}

// silent reports whether this database gives no IDs: it is a copy, or closed for good.
func (s Seen) silent() bool {
	_, copied := s.Copied()
	return copied || s.Closed
}

// is reports whether two URLs lead to one database, or to a database and its replica. The claim is random, and only a
// copy of a server's files has the same one.
func (s Seen) is(other Seen) bool {
	return s.Claim == other.Claim && s.OID == other.OID &&
		(s.Started.Equal(other.Started) || s.Standby || other.Standby)
}

// foreign returns the collision of two ID spaces.
func foreign(a, b Seen, i, j int) Collision {
	c := Collision{
		A: i, B: j,
		Why: fmt.Sprintf("they are two ID spaces, %s and %s: nothing keeps the IDs of one from being those of "+
			"the other", a.ID, b.ID),
		Hint: "Each is sound by itself. Do not put rows of both into one table. " +
			"A new region joins an ID space by the fingerprint of one of its regions: " +
			"pgflurry namespace join --region NUMBER --namespace FINGERPRINT.",
	}
	if a.Layout.Equal(b.Layout) {
		if both, ok := a.draws().meets(b.draws()); ok {
			c.Workers = &both
		}
	}
	return c
}

// draws returns the workers with which this database makes IDs, or lets others make them.
func (s Seen) draws() Range {
	if s.Home != "" {
		return Range{s.FunctionWorker, s.FunctionWorker}
	}
	return s.Workers()
}

// shared returns the workers with which two databases of one namespace may both make IDs, and why. An empty reason:
// there are none.
func (s Seen) shared(other Seen) (Range, string) {
	both, ok := s.draws().meets(other.draws())
	switch {
	case !ok || s.knows(other) || other.knows(s):
		return Range{}, ""
	case s.Home != "" && other.Home != "":
		return both, fmt.Sprintf("the functions of both have worker %d", s.FunctionWorker)
	case s.Home != "":
		return both, s.unknownTo(other)
	case other.Home != "":
		return both, other.unknownTo(s)
	case s.Claim == other.Claim:
		return both, "one of them is a copy of the files of the other's server, and both give IDs"
	case s.Region == nil && other.Region == nil:
		return both, "both are the home of the whole ID space"
	case s.Region == nil || other.Region == nil:
		return both, "one of them has no region, so all workers are its own"
	}
	return both, fmt.Sprintf("both are region %d", *s.Region)
}

// knows reports whether this home has recorded that the worker of another database belongs to that database.
func (s Seen) knows(joined Seen) bool {
	return s.Home == "" && joined.Home != "" && s.Claims[joined.FunctionWorker] == joined.Claim
}

// homeIn reports whether the home of this database is in the list.
func (s Seen) homeIn(list []Seen) bool {
	for _, other := range list {
		if other.ID == s.ID && other.knows(s) {
			return true
		}
	}
	return false
}

// unknownTo says what a home may do with the worker of a database that it does not know.
func (s Seen) unknownTo(home Seen) string {
	if _, taken := home.Claims[s.FunctionWorker]; taken {
		return fmt.Sprintf("the function of %s has worker %d, and %s knows another database that has it",
			s.Address, s.FunctionWorker, home.Address)
	}
	return fmt.Sprintf("the function of %s has worker %d, and %s does not know that and may give it away",
		s.Address, s.FunctionWorker, home.Address)
}

// remedy says what to do about workers that two databases share.
func (s Seen) remedy(other Seen) string {
	switch {
	case s.Home != "" || other.Home != "":
		return "On the one that has joined run: pgflurry namespace join --database URL --home HOME."
	case s.Claim == other.Claim:
		return "Stop the copy. Then run there: " +
			"pgflurry namespace join --database URL --home HOME --copy; or separate, for an ID space of its own."
	}
	return "Stop one of the two before they give more IDs. A region's number cannot change: " +
		"the one that goes on under another number needs a database of its own: docs/high-availability.md, Regions."
}
