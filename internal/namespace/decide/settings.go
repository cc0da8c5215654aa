package decide

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
	"pgflurry/sqlfuncs"
)

// Settings say what a namespace shall be. The zero value is right in most cases: existing things stay, and a new
// namespace gets the default layout.
type Settings struct {
	Layout string        // "T/D/W/S" or a preset; "": that of the existing row, else generator.DefaultLayout
	Epoch  time.Time     // instant of tick 0; zero: as above
	Unit   time.Duration // length of a tick; zero: as above
	// which functions have a name in public: sqlfuncs.Snowflake or All; "": as before, Snowflake in a new database
	Functions string
	// the region of the database in its ID space: the workers of that datacenter number; nil: as above, else none
	Region *int
	// the ID space of that region, from the fingerprint of another region; nil: that of the existing row, else a new
	// one
	Space *namespace.Fingerprint
	// workers kept for database functions, at least 1; zero: as above, else 16, fewer in a small layout
	DatabaseWorkers int
	// the workers with which a living generator of another kind gives IDs; nil: as before, none in a new ID space
	Foreign      *namespace.Ranges
	JoinURL      string // make this database another one of the namespace with this home
	NewNamespace bool   // this copy of a database becomes an ID space of its own
	// The highest ID that the database holds. In a new database: Up refuses if the first ID would not be above it. With
	// NewNamespace: no worker begins below it. nil: with NewNamespace, if other databases had workers of the old space,
	// the columns are read whose default is next_snowflake()
	AfterID *int64
	// Columns with IDs of the former generator, each as SCHEMA.TABLE.COLUMN in SQL. Up reads the highest ID of each.
	// The highest of all, and of AfterID, is AfterID then.
	AfterTables []string
	// One of three cases. This copy replaces its original, which is gone for good. Or the database was set back in
	// place. Or it is empty, with Region and Space, and the former database of that region is gone for good.
	Moved bool
	// With Moved: no other database draws these IDs. The original is closed or destroyed for good, and no other copy
	// has taken its place. It need not be said where that can be seen (originalEnded).
	NoOtherDraws bool
	// this database is a copy although it looks original, and the original lives on; with JoinURL, NewNamespace or
	// Space
	Copy        bool
	FreshWorker bool // the function gets another worker, because the mark of its own is out of reach
	// this home knows every database that has joined, although it was failed over, restored or reseeded
	JoinsComplete bool
	Disposable    bool // a new namespace is for tests: copies of the database give the same IDs
	// how far ahead proxies may reserve from now on: 1 s to 24 h. The quarantine changes with it. Zero: as it is, and
	// 60 s in a new namespace
	MaxWindow time.Duration
	// how long no worker is granted after a start of the server: 0 to 366 days, or RestartAsWindows. 0 is for a server
	// that never forgets a grant. nil: as it is, and RestartAsWindows in a new namespace
	RestartQuarantine *time.Duration
	// what happens on a server that is not known: Warn or Refuse; "": as it is, and Warn in a new namespace
	NewServer string
	Existing  bool   // the namespace is there already: a database without one is refused
	Version   string // of the program, for people who list workers
	// gets a sentence for each extra thing that Up did or left to the operator; nil: nobody
	Say func(sentence string)
	// gets what Up does now, each step that may take long; nil: nobody
	Doing func(what string)
}

// After adds what no new ID may be below: an ID, or a column with IDs, as SCHEMA.TABLE.COLUMN in SQL.
func (s *Settings) After(idOrColumn string) {
	id, err := strconv.ParseInt(idOrColumn, 10, 64)
	switch {
	case err != nil:
		s.AfterTables = append(s.AfterTables, idOrColumn)
	case s.AfterID == nil || *s.AfterID < id:
		s.AfterID = &id
	}
}

// What happens on a server that is not known: the choices of Settings.NewServer.
const (
	Warn   = "warn"
	Refuse = "refuse" // no proxy gets a worker, and the function gives no ID
)

// Validate refuses settings that contradict each other.
func (s Settings) Validate() error {
	switch {
	case s.Functions != "" && s.Functions != sqlfuncs.Snowflake && s.Functions != sqlfuncs.All:
		return session.Refuse(fmt.Sprintf("Give %s or %s.", sqlfuncs.Snowflake, sqlfuncs.All),
			"--functions is %q, which is no choice of functions", s.Functions)
	case s.NewNamespace && (s.Moved || s.JoinURL != "" || s.Space != nil), s.Moved && s.Copy,
		s.Disposable && (s.NewNamespace || s.Moved || s.JoinURL != "" || s.Space != nil):
		return session.Refuse("Choose one.", "these settings say two things of what the database is to become")
	case s.AfterID != nil && *s.AfterID < 0:
		return session.Refuse("Give the highest ID that the database holds.",
			"--after-id is %d, and no ID is negative", *s.AfterID)
	case s.Space != nil && s.Region == nil:
		return session.Refuse("Add --region with a number that no other region of the ID space has.",
			"--namespace makes the database a region of an ID space, but --region does not say which")
	case s.Space != nil && !s.Space.Regions:
		return session.Refuse("Regions begin with a new ID space: pgflurry migrate up --database URL --layout "+
			"datacenter --region NUMBER, in another database. A database without a region joins by --home.",
			"the ID space %s of --namespace has no regions: its home gives all workers away, "+
				"those of region %d as well", s.Space.ID, *s.Region)
	case s.MaxWindow != 0 && (s.MaxWindow < namespace.ShortestWindow || s.MaxWindow > namespace.LongestWindow ||
		s.MaxWindow%time.Millisecond != 0):
		return session.Refuse("Give a duration such as 10m or 1h.",
			"--max-window is %v; expected %v to %v, in whole milliseconds",
			s.MaxWindow, namespace.ShortestWindow, namespace.LongestWindow)
	case s.RestartQuarantine != nil && !mayWaitAfterRestart(*s.RestartQuarantine):
		return session.Refuse("Give a duration such as 0s or 2m, or default.",
			"--restart-quarantine is %v; expected 0s to %v, in whole milliseconds",
			*s.RestartQuarantine, longestRestart)
	case s.NewServer != "" && s.NewServer != Warn && s.NewServer != Refuse:
		return session.Refuse(fmt.Sprintf("Give %s or %s.", Warn, Refuse), "--new-server is %q, which is neither",
			s.NewServer)
	}
	if s.DatabaseWorkers < 0 {
		return session.Refuse("", "%d database workers were asked for, at least 1 is needed", s.DatabaseWorkers)
	}
	_, err := s.WantedLayout(generator.DefaultLayout())
	return err
}

// WantedLayout returns the wanted layout. What the operator left out comes from the named ID space, or else from
// present.
func (s Settings) WantedLayout(present generator.Layout) (generator.Layout, error) {
	layout, err := s.asked(present)
	if err != nil || s.Space == nil {
		return layout, err
	}
	if layout, err = s.asked(s.Space.Layout); err == nil && !layout.Equal(s.Space.Layout) {
		err = session.Contradicts("Leave --layout, --epoch and --unit out: the fingerprint has them.",
			"the ID space of --namespace has layout %s, not %s", s.Space.Layout.Full(), layout.Full())
	}
	return layout, err
}

// asked returns the wanted layout. What the operator left out comes from base.
func (s Settings) asked(base generator.Layout) (generator.Layout, error) {
	layout := base
	if s.Layout != "" {
		bits, err := generator.ParseLayout(s.Layout)
		if err != nil {
			return generator.Layout{}, err
		}
		bits.Epoch, bits.Unit = base.Epoch, base.Unit
		layout = bits
	}
	if !s.Epoch.IsZero() {
		layout.Epoch = s.Epoch.UTC()
	}
	if s.Unit != 0 {
		layout.Unit = s.Unit
	}
	return layout, layout.Validate()
}

// MayHave returns an error if a new namespace of a layout cannot have the wanted region.
func (s Settings) MayHave(layout generator.Layout) error {
	switch {
	case s.Region == nil:
		return nil
	case layout.DatacenterBits == 0:
		return session.Contradicts("Add --layout datacenter, or another layout with bits for the number of the region.",
			"--region is %d, but layout %s has no datacenter bits", *s.Region, layout)
	case *s.Region < 0 || *s.Region >= 1<<layout.DatacenterBits:
		return session.Contradicts("Choose one of these that no other region has.",
			"--region is %d, but layout %s has regions 0 to %d", *s.Region, layout, 1<<layout.DatacenterBits-1)
	}
	return nil
}

// named returns the shares that the operator has named, in flags or in the fingerprint, and otherwise the given ones.
func (s Settings) named(workers int, foreign namespace.Ranges) (int, namespace.Ranges) {
	if s.Space != nil {
		workers, foreign = s.Space.DatabaseWorkers, s.Space.Foreign
	}
	if s.DatabaseWorkers != 0 {
		workers = s.DatabaseWorkers
	}
	if s.Foreign != nil {
		foreign = *s.Foreign
	}
	return workers, foreign
}

// Shares returns whom the workers of a new namespace are for. workers is how many, of its region or of all, are for the
// functions of databases; foreign are another generator's, in the whole ID space.
func (s Settings) Shares(layout generator.Layout) (workers int, foreign namespace.Ranges, err error) {
	workers, foreign = s.named(0, nil)
	if s.Space != nil && (workers != s.Space.DatabaseWorkers || !slices.Equal(foreign, s.Space.Foreign)) {
		return 0, nil, session.Contradicts("Leave --database-workers and --foreign-workers out: the fingerprint has "+
			"them.",
			"the ID space of --namespace keeps %d workers for database functions, and its foreign workers are %v",
			s.Space.DatabaseWorkers, s.Space.Foreign)
	}
	all := namespace.WorkersOf(layout, nil)
	if beyond := foreign.Without(namespace.Ranges{all}); len(beyond) > 0 {
		return 0, nil, session.Contradicts("Name workers of this layout alone.",
			"--foreign-workers has workers %v, but this layout has workers %v", beyond, all)
	}
	left := namespace.Ranges{namespace.WorkersOf(layout, s.Region)}.Without(foreign).Size()
	if max(1, workers) >= left {
		advice := "Ask for fewer, or choose a layout with more worker bits."
		of := fmt.Sprintf("layout %s", layout)
		if s.Region != nil {
			of = fmt.Sprintf("region %d of layout %s", *s.Region, layout)
		}
		if len(foreign) > 0 {
			of += fmt.Sprintf(", without the foreign workers %v,", foreign)
			advice = "Name fewer foreign workers, or choose a layout with more worker bits."
		}
		if s.Space != nil {
			advice = "The fingerprint fixes both. Choose the number of another region, which has more workers left."
		}
		if workers == 0 {
			return 0, nil, session.Refuse(advice, "%s has %d workers left, and at least 2 are needed: "+
				"one for a database, and one for a proxy", of, left)
		}
		return 0, nil, session.Refuse(advice,
			"%d database workers were asked for, but %s has %d workers, and at least one must be "+
				"left for a proxy", workers, of, left)
	}
	if workers == 0 {
		workers = max(1, min(16, left/4))
	}
	return workers, foreign, nil
}

// otherRegion reports whether a copy of one region shall be another region of the same ID space.
func (s Settings) otherRegion(present namespace.Namespace) bool {
	return s.Space != nil && s.Space.ID == present.ID && present.Region != nil && *s.Region != *present.Region
}

func (s Settings) Tell(sentence string) {
	if s.Say != nil {
		s.Say(sentence)
	}
}
