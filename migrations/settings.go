package migrations

import (
	"fmt"
	"time"

	"pgflurry/generator"
	"pgflurry/namespace"
)

// Settings say what a namespace shall be. The zero value is right for most: what exists stays, what is new gets the
// default layout.
type Settings struct {
	Layout string        // "T/D/W/S" or a preset; "": that of the existing row, else generator.DefaultLayout
	Epoch  time.Time     // instant of tick 0; zero: as above
	Unit   time.Duration // length of a tick; zero: as above
	// workers kept for database functions, at least 1; zero: as above, else 16, fewer in a small layout
	DatabaseWorkers int
	JoinURL         string // make this database another one of the namespace that is at home there
	NewNamespace    bool   // this copy of a database shall be an ID space of its own
	// this copy takes the place of its original, which is gone for good; or the database was set back in place
	Moved bool
	// this database is a copy although it looks original, and the original lives on; with JoinURL or NewNamespace
	Copy        bool
	FreshWorker bool // the function gets another worker: the mark of its own is out of reach
	// this home knows every database that has joined, although it was failed over, restored or reseeded
	JoinsComplete bool
	Disposable    bool // a new namespace is for tests: copies of the database give the same IDs
	// how far ahead proxies may reserve from now on, 1 s to 24 h, with the quarantine that belongs to it; zero: as it
	// is, 60 s in a new namespace
	MaxWindow time.Duration
	Version   string // of the program, for people who list workers
}

// validate refuses settings that contradict each other.
func (s Settings) validate() error {
	switch {
	case s.NewNamespace && (s.Moved || s.JoinURL != ""):
		return refuse("Choose one.", "--new-namespace and --join or --moved exclude each other")
	case s.Moved && s.Copy:
		return refuse("Say --moved if the original is gone for good, --copy if it lives on.",
			"--moved and --copy exclude each other")
	case s.Copy && !s.NewNamespace && s.JoinURL == "":
		return refuse("Add --join HOME to share one ID space with the original, or --new-namespace for one of its own.",
			"--copy says that this is a copy, but not what it shall be")
	case s.Disposable && (s.JoinURL != "" || s.NewNamespace || s.Moved || s.Copy):
		return refuse("Leave --disposable out.", "--disposable is for a new namespace")
	case s.MaxWindow != 0 && (s.MaxWindow < namespace.ShortestWindow || s.MaxWindow > namespace.LongestWindow ||
		s.MaxWindow%time.Millisecond != 0):
		return refuse("Give a duration such as 10m or 1h.",
			"--max-window is %v; expected %v to %v, in whole milliseconds",
			s.MaxWindow, namespace.ShortestWindow, namespace.LongestWindow)
	case s.MaxWindow != 0 && s.JoinURL != "":
		return refuse("Run it without --join, with the URL of the home.",
			"--max-window is the namespace's, and is changed in its home")
	case s.FreshWorker && (s.NewNamespace || s.Moved || s.Copy):
		return refuse("Run it twice: first without --fresh-worker.", "--fresh-worker goes with --join alone")
	}
	if s.DatabaseWorkers < 0 {
		return refuse("", "%d database workers were asked for, at least 1 is needed", s.DatabaseWorkers)
	}
	_, err := s.layout(generator.DefaultLayout())
	return err
}

// layout is what was asked for, with the rest from present.
func (s Settings) layout(present generator.Layout) (generator.Layout, error) {
	layout := present
	if s.Layout != "" {
		bits, err := generator.ParseLayout(s.Layout)
		if err != nil {
			return generator.Layout{}, err
		}
		bits.Epoch, bits.Unit = present.Epoch, present.Unit
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

// sameLayout says whether two layouts give the same IDs.
func sameLayout(a, b generator.Layout) bool {
	return a.String() == b.String() && a.Epoch.Equal(b.Epoch) && a.Unit == b.Unit
}

// spell is a layout with everything that makes it, for messages.
func spell(l generator.Layout) string {
	return fmt.Sprintf("%s, epoch %s, unit %s", l, l.Epoch.UTC().Format(time.RFC3339Nano), l.Unit)
}

// databaseWorkers is how many workers of a new namespace are kept for database functions.
func (s Settings) databaseWorkers(layout generator.Layout) (int, error) {
	if s.DatabaseWorkers >= layout.Workers() {
		return 0, refuse("Ask for fewer, or choose a layout with more worker bits.",
			"%d database workers were asked for, but layout %s has %d workers, and at least one must be "+
				"left for a proxy",
			s.DatabaseWorkers, layout, layout.Workers())
	}
	if s.DatabaseWorkers > 0 {
		return s.DatabaseWorkers, nil
	}
	return max(1, min(16, layout.Workers()/4)), nil
}
