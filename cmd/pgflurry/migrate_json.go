package main

import (
	"io"
	"time"

	"pgflurry/internal/namespace"
	"pgflurry/internal/namespace/decide"
	"pgflurry/migrations"
)

// stateJSON is the output of "migrate status --json". Programs rely on it: fields may be added, but none may change its
// meaning.
type stateJSON struct {
	InPlace    bool                  `json:"in_place"`
	Database   string                `json:"database"`
	Unchecked  *string               `json:"functions_unchecked"` // why the functions could not be compared
	Migrations []migrationJSON       `json:"migrations"`
	Public     *string               `json:"functions_in_public"`
	Functions  []migrations.Function `json:"functions"` // those that differ from this version
	Kept       []migrations.Kept     `json:"kept"`
	Namespace  *namespaceJSON        `json:"namespace"`
	Joined     []joinedJSON          `json:"joined"`
	Drawers    []string              `json:"roles_that_may_set_sequences"`
	Unreadable []string              `json:"unreadable_sequences"`
	WeakGuards *string               `json:"weak_guards"`
	LockTables []string              `json:"locks_that_are_no_views"`
}

type migrationJSON struct {
	migrations.Applied
	AppliedAt *string `json:"applied_at"`
}

type joinedJSON struct {
	migrations.Joined
	ClaimedAt string `json:"claimed_at"`
}

type namespaceJSON struct {
	ID              string  `json:"id"`
	Copied          *string `json:"copied"`
	Home            *string `json:"home"`
	Disposable      bool    `json:"disposable"`
	Layout          string  `json:"layout"`
	Epoch           string  `json:"epoch"`
	Unit            float64 `json:"unit_seconds"`
	Region          *int    `json:"region"`
	LastID          string  `json:"last_id_at"`
	Left            float64 `json:"left_seconds"`
	Workers         int     `json:"workers"`
	LowestWorker    int     `json:"lowest_worker"`
	DatabaseWorkers int     `json:"database_workers"`
	FunctionWorker  int     `json:"function_worker"`
	// workers of another generator
	ForeignWorkers namespace.Ranges `json:"foreign_workers"`
	MaxWindow      float64          `json:"max_window_seconds"`
	Skew           float64          `json:"skew_seconds"`
	Quarantine     float64          `json:"quarantine_seconds"`
	Closed         bool             `json:"closed"`
	GateOpens      float64          `json:"gate_opens_in_seconds"`
	GateBy         *string          `json:"gate_closed_by"`
	Restart        float64          `json:"restart_quarantine_seconds"`
	Settles        float64          `json:"settles_in_seconds"`
	JoinsClosed    bool             `json:"joins_closed"`
	// why the server is not known
	NewServer   *string  `json:"new_server"`
	OnNewServer string   `json:"on_new_server"`
	Elsewhere   []string `json:"answer_elsewhere"`
}

// printStateJSON writes one JSON object.
func printStateJSON(w io.Writer, state migrations.State) error {
	out := stateJSON{
		InPlace: state.InPlace(), Database: state.Database, Unchecked: known(state.Unchecked),
		Public:     known(state.Public),
		Migrations: []migrationJSON{}, Functions: array(state.Functions), Kept: array(state.Kept),
		Joined: []joinedJSON{}, Drawers: array(state.Drawers), Namespace: namespaceOf(state),
		Unreadable: array(state.Unreadable), WeakGuards: known(state.WeakGuards), LockTables: array(state.LockTables),
	}
	for _, m := range state.Migrations {
		applied := migrationJSON{Applied: m}
		if !m.At.IsZero() {
			applied.AppliedAt = known(timestamp(m.At))
		}
		out.Migrations = append(out.Migrations, applied)
	}
	for _, j := range state.Joined {
		out.Joined = append(out.Joined, joinedJSON{j, timestamp(j.Since)})
	}
	return printObject(w, out)
}

func namespaceOf(state migrations.State) *namespaceJSON {
	n := state.Namespace
	if n == nil {
		return nil
	}
	all := &namespaceJSON{
		ID: n.ID, Copied: known(state.Copied), Home: known(n.Home), Disposable: n.Disposable,
		Layout: n.Layout.String(), Epoch: timestamp(n.Layout.Epoch), Unit: n.Layout.Unit.Seconds(),
		Region: n.Region, LastID: timestamp(n.Layout.End()), Left: state.Left.Seconds(),
		Workers: n.Workers().Size(), LowestWorker: n.Workers().Lowest,
		DatabaseWorkers: n.DatabaseWorkers, FunctionWorker: n.FunctionWorker, ForeignWorkers: array(n.Foreign),
		MaxWindow: n.MaxWindow.Seconds(),
		Skew:      n.Skew.Seconds(), Quarantine: n.Quarantine.Seconds(), GateOpens: state.GateOpens.Seconds(),
		Closed: state.Closed, GateBy: known(state.GateBy),
		Restart: state.Restart.Seconds(), Settles: state.Settles.Seconds(), JoinsClosed: state.JoinsClosed,
		NewServer: known(n.NewServer), OnNewServer: decide.Warn, Elsewhere: array(state.Elsewhere),
	}
	if n.RefusesNew {
		all.OnNewServer = decide.Refuse
	}
	return all
}

// array is never null.
func array[T any](list []T) []T { return append([]T{}, list...) }

// known maps an empty text to null.
func known(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// wholeSeconds rounds up to seconds, for people.
func wholeSeconds(d time.Duration) time.Duration {
	return (d + time.Second - 1).Truncate(time.Second)
}
