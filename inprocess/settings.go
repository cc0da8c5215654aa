package inprocess

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/connect"
	"pgflurry/internal/lease"
	"pgflurry/internal/lease/holder"
	"pgflurry/internal/namespace"
)

// Settings of a Generator. Node is required, and one of LeaseDatabase and Connection.
type Settings struct {
	// LeaseDatabase is the URL of the database with the worker rows, or a list such as "host=db dbname=app". As with
	// libpq, PGPASSWORD and ~/.pgpass complete it. The role needs CALL pgflurry.grant_lease('role').
	LeaseDatabase string
	// Connection is the same as pgx has parsed it. Open copies it. A pool cannot be used: the lease has to see each
	// notice of its own connection.
	Connection *pgx.ConnConfig

	// Node names this process, in 1 to 255 characters, the same after a restart. A node gets its last worker again if
	// that is free. Two processes of one name get two workers.
	Node string
	// Program is for people, beside the name of the node. By default it is the path of the main package.
	Program string

	// Window is how long IDs go on without the database, from 1 s to the max_window of the namespace. By default it is
	// 60 s.
	Window time.Duration
	// FirstWindow is the window right after a worker was acquired; each renewal doubles it up to Window. A worker that
	// was given back rests for so long at most. At least 500 ms, by default 5 s.
	FirstWindow time.Duration
	// Datacenter restricts the workers to one datacenter of the layout. Nil: any.
	Datacenter *int

	// Log gets what happens to the lease. Nil: slog.Default().
	Log *slog.Logger
}

const (
	defaultWindow = 60 * time.Second
	// connectionAge is twice the largest age at which the lease uses a connection.
	connectionAge = 30 * time.Second
)

// holder are the settings for package holder.
func (s Settings) holder() (holder.Settings, error) {
	h := holder.Settings{
		Node: s.Node, Address: "in process: " + s.Program, Version: version(),
		Window: s.Window, FirstWindow: s.FirstWindow, Datacenter: s.Datacenter,
		Clock: lease.NewClock, Wall: time.Now, Log: s.Log, Without: "wait",
	}
	if s.Program == "" {
		h.Address = "in process: " + program()
	}
	if h.Window == 0 {
		h.Window = defaultWindow
	}
	if h.Log == nil {
		h.Log = slog.Default()
	}
	switch {
	case h.Node == "":
		return h, errors.New("Settings.Node is missing: give this process a name that stays after a restart")
	case utf8.RuneCountInString(h.Address) > 255:
		return h, fmt.Errorf("Settings.Program has %d characters; at most 240 are allowed",
			utf8.RuneCountInString(s.Program))
	case h.Window < namespace.ShortestWindow || h.Window > namespace.LongestWindow:
		return h, fmt.Errorf("Settings.Window is %v; expected %v to %v",
			h.Window, namespace.ShortestWindow, namespace.LongestWindow)
	}
	var err error
	if h.Lease, err = s.connection(); err != nil {
		return h, err
	}
	start := time.Now()
	h.Rules = connect.Rules{
		Age: connectionAge, Suspicion: new(connect.Suspicion), Log: h.Log,
		Now: func() time.Duration { return time.Since(start) },
	}
	return h, nil
}

func (s Settings) connection() (config *pgx.ConnConfig, err error) {
	switch {
	case s.Connection != nil && s.LeaseDatabase != "":
		return nil, errors.New("Settings has both LeaseDatabase and Connection; expected one of them")
	case s.Connection != nil:
		config = s.Connection.Copy()
	default:
		if config, err = connect.ParseArgument("Settings.LeaseDatabase", s.LeaseDatabase); err != nil {
			return nil, err
		}
	}
	connect.ForLease(config)
	return config, nil
}

// program is the path of the main package of this process, such as example.com/orders/cmd/orders.
func program() string {
	if built, known := debug.ReadBuildInfo(); known && built.Path != "" {
		return built.Path
	}
	return "a Go program"
}

// version is that of this module in the program; empty: not known.
func version() string {
	built, known := debug.ReadBuildInfo()
	if !known {
		return ""
	}
	for _, module := range built.Deps {
		if module.Path == "pgflurry" {
			return module.Version
		}
	}
	return built.Main.Version
}
