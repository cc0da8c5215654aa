package command

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/namespace"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// read parses the JSON that a command printed. The test fails on a key that T lacks, and on a value of another type.
func read[T any](t *testing.T, e ended) (value T) {
	t.Helper()
	reader := json.NewDecoder(strings.NewReader(e.out))
	reader.DisallowUnknownFields()
	if err := reader.Decode(&value); err != nil {
		t.Errorf("exit code %d, %v in\n%s%s", e.code, err, e.out, e.errs)
	}
	return value
}

// status is the JSON that "migrate status --json" promises.
type status struct {
	InPlace    bool    `json:"in_place"`
	Database   string  `json:"database"`
	Unchecked  *string `json:"functions_unchecked"`
	Migrations []struct {
		Number    int        `json:"number"`
		Name      string     `json:"name"`
		AppliedAt *time.Time `json:"applied_at"`
	} `json:"migrations"`
	Public    *string                        `json:"functions_in_public"`
	Functions []struct{ Name, State string } `json:"functions"`
	Kept      []struct{ Name, Other string } `json:"kept"`
	Joined    []struct {
		Database, Address string
		Worker            int
		ClaimedAt         time.Time `json:"claimed_at"`
	} `json:"joined"`
	Drawers    []string `json:"roles_that_may_set_sequences"`
	Unreadable []string `json:"unreadable_sequences"`
	WeakGuards *string  `json:"weak_guards"`
	LockTables []string `json:"locks_that_are_no_views"`
	Namespace  *struct {
		ID              string
		Copied, Home    *string
		Disposable      bool
		Layout          string
		Epoch           time.Time
		Unit            float64   `json:"unit_seconds"`
		LastID          time.Time `json:"last_id_at"`
		Left            float64   `json:"left_seconds"`
		Region          *int
		Workers         int
		LowestWorker    int                      `json:"lowest_worker"`
		DatabaseWorkers int                      `json:"database_workers"`
		FunctionWorker  int                      `json:"function_worker"`
		ForeignWorkers  []struct{ From, To int } `json:"foreign_workers"`
		MaxWindow       float64                  `json:"max_window_seconds"`
		Skew            float64                  `json:"skew_seconds"`
		Quarantine      float64                  `json:"quarantine_seconds"`
		Closed          bool
		GateOpens       float64  `json:"gate_opens_in_seconds"`
		GateBy          *string  `json:"gate_closed_by"`
		Restart         float64  `json:"restart_quarantine_seconds"`
		Settles         float64  `json:"settles_in_seconds"`
		JoinsClosed     bool     `json:"joins_closed"`
		NewServer       *string  `json:"new_server"`
		OnNewServer     string   `json:"on_new_server"`
		Elsewhere       []string `json:"answer_elsewhere"`
	} `json:"namespace"`
}

func TestStatusAsJSONHasNumbersTimesAndNulls(t *testing.T) {
	t.Parallel()
	home, joined := server.Migrated(t), server.Database(t)
	run(t, "namespace", "join", "--database", joined, "--home", home).is(t, 0)
	s := read[status](t, run(t, "migrate", "status", "--json", "--database", home))
	n := s.Namespace
	if !s.InPlace || s.Database != server.Name(t, home) || s.Unchecked != nil || len(s.Functions) != 0 ||
		s.Unreadable == nil || len(s.Unreadable) != 0 ||
		len(s.Migrations) != namespace.Revision || s.Migrations[0].Number != 1 || s.Migrations[0].AppliedAt == nil {
		t.Errorf("a database that is in place: %+v", s)
	}
	if s.Public == nil || *s.Public != "snowflake" {
		t.Errorf("which functions have a name in public: %v", s.Public)
	}
	if n == nil || n.Workers != 1024 || n.DatabaseWorkers != 16 || n.FunctionWorker != 0 || n.Unit != 0.001 ||
		n.MaxWindow != 60 || n.Skew != 2 || n.Quarantine != 120 || n.Left < 1e9 || n.Home != nil || n.Copied != nil ||
		n.LastID.Year() != 2093 || n.GateOpens != 0 || n.JoinsClosed || n.NewServer != nil || n.OnNewServer != "warn" ||
		n.Elsewhere == nil {
		t.Errorf("its namespace: %+v", n)
	}
	if len(s.Joined) != 1 || s.Joined[0].Worker != 1 || time.Since(s.Joined[0].ClaimedAt) > time.Hour {
		t.Errorf("what has joined it: %+v", s.Joined)
	}
	if n := read[status](t, run(t, "migrate", "status", "--json", "--database", joined)).Namespace; n == nil ||
		n.Home == nil || n.FunctionWorker != 1 {
		t.Errorf("the namespace of a database that has joined: %+v", n)
	}
	if s := read[status](t, run(t, "migrate", "status", "--json", "--database", server.Database(t))); s.InPlace ||
		s.Namespace != nil || s.Migrations[0].AppliedAt != nil || s.Public != nil {
		t.Errorf("an empty database: %+v", s)
	}
	if e := run(t, "workers", "reseed", "--yes", "--json", "--database", home); read[struct {
		Workers, Raised int
		LeasesEnded     int       `json:"leases_ended"`
		ReservedUntil   time.Time `json:"reserved_until"`
		GrantedAfter    time.Time `json:"granted_after"`
	}](t, e).Workers != 1008 {
		t.Errorf("reseed: %s", e.out)
	}
	n = read[status](t, run(t, "migrate", "status", "--json", "--database", home)).Namespace
	if n.GateOpens < 60 || n.GateOpens > 120 || !n.JoinsClosed {
		t.Errorf("the namespace after a reseed: %+v", n)
	}
	text := run(t, "migrate", "status", "--database", home).out
	for _, says := range []string{"no worker is granted for another", "--joins-complete"} {
		if !strings.Contains(text, says) {
			t.Errorf("status after a reseed lacks %q:\n%s", says, text)
		}
	}
}

func TestListsAsJSONHaveNumbersTimesAndNulls(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	program.Serve(t, url, "one")
	workers := read[[]struct {
		Worker        int
		Kind, State   string
		Node, Address *string
		Version       *string
		ReservedUntil *time.Time `json:"reserved_until"`
		Left          *float64   `json:"left_seconds"`
		Free          *float64   `json:"free_in_seconds"`
		Term          int64
		AcquiredAt    *time.Time `json:"acquired_at"`
		RenewedAt     *time.Time `json:"renewed_at"`
	}](t, run(t, "workers", "list", "--all", "--json", "--database", url))
	held := 0
	for _, w := range workers {
		if w.State == "held" {
			held = w.Worker
			if w.Node == nil || *w.Node != "one" || w.Left == nil || *w.Left <= 0 || w.Term != 1 || w.RenewedAt == nil {
				t.Errorf("a worker that is held: %+v", w)
			}
		} else if w.State == "never used" && w.Node != nil {
			t.Errorf("a worker that was never used: %+v", w)
		}
	}
	if len(workers) != 1024 || held == 0 {
		t.Errorf("%d workers, worker %d is held", len(workers), held)
	}
	history := read[[]struct {
		Worker        int
		Node          string
		AcquiredAt    time.Time  `json:"acquired_at"`
		ReservedUntil *time.Time `json:"reserved_until"`
		ReleasedAt    *time.Time `json:"released_at"`
		Term          int64
		Address       *string
		Version       *string
	}](t, run(t, "workers", "history", "--json", "--database", url))
	if len(history) != 2 || history[0].Worker != held || history[0].ReleasedAt != nil ||
		history[0].ReservedUntil == nil || history[1].Worker != 0 || history[1].Address != nil {
		t.Errorf("the history: %+v", history)
	}
	retired := read[struct {
		Worker        int
		Already, Held bool
		Node, Address *string
		Left          float64 `json:"left_seconds"`
	}](t, run(t, "workers", "retire", "1000", "--json", "--database", url))
	if retired.Worker != 1000 || retired.Node != nil {
		t.Errorf("a worker that was retired: %+v", retired)
	}
	const id = "9007199254740993" // 2^53 + 1, which JavaScript rounds
	decoded := read[[]struct {
		ID               string
		Time             time.Time
		Datacenter       *int
		Worker, Sequence int
		Base32           string
	}](t, run(t, "decode", id, "--json", "--database", url))
	if len(decoded) != 1 || decoded[0].ID != id || decoded[0].Sequence != 1 || decoded[0].Datacenter != nil ||
		decoded[0].Base32 != "0080000000001" {
		t.Errorf("an ID: %+v", decoded)
	}
}
