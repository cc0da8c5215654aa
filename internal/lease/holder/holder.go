package holder

import (
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/generator"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/lease"
	"pgflurry/internal/namespace"
)

// askTimeout limits a question to the lease database, its login included.
const askTimeout = 5 * time.Second

// Settings of a holder. FirstWindow, Datacenter and Wrap are optional.
type Settings struct {
	Lease   *pgx.ConnConfig // the lease role at the lease database
	Node    string          // name of the holder, 1 to 255 characters
	Address string          // for people: where the holder is
	Version string          // for people: version of the program

	Window      time.Duration // how far ahead of now a renewal reserves
	FirstWindow time.Duration // the same right after an acquisition; 0: that of package lease
	Datacenter  *int          // lease only workers of this datacenter; nil: any

	Rules connect.Rules                         // of its connections; Age and Now are set
	Clock func(unit time.Duration) *lease.Clock // makes the clock of IDs
	Wall  func() time.Time                      // dates the end of the layout
	Log   *slog.Logger
	// Flag stands before the name of a setting in messages: "--", or nothing.
	Flag string
	// Without is what calls do while there is no grant, for the log, such as "go to PostgreSQL".
	Without string

	// Wrap returns what the keeper shall use in place of the two; nil: the two.
	Wrap func(lease.Store, lease.Issuer) (lease.Store, lease.Issuer)
}

// New makes the generator of a namespace and the keeper that supplies it. Nothing happens before Keeper.Run.
func (s Settings) New(ns namespace.Namespace) (*generator.Generator, *lease.Keeper, error) {
	clock := s.Clock(ns.Layout.Unit)
	g, err := generator.New(generator.Settings{Layout: ns.Layout, Now: clock.Now})
	if err != nil {
		return nil, nil, err
	}
	workers, err := s.workers(ns)
	if err != nil {
		return nil, nil, fault.WithKind(fault.Usage, err)
	}
	rules := s.Rules.Named("lease")
	// A renewal comes every 20 s. At half the age each goes over a new connection, and none trusts one for 40 s.
	rules.Urgent, rules.Age = true, rules.Age/2
	var store lease.Store = lease.NewPostgres(&s.Lease.Config, rules)
	var issuer lease.Issuer = g
	if s.Wrap != nil {
		store, issuer = s.Wrap(store, issuer)
	}
	keeper, err := lease.NewKeeper(lease.Settings{
		Namespace: ns.ID, Store: store, Issuer: issuer, Clock: clock,
		Node: s.Node, Address: s.Address, Version: s.Version, Range: workers,
		Window: s.Window, FirstWindow: s.FirstWindow, Suspicion: rules.Suspicion, Log: s.Log,
		Without: s.Without,
	})
	return g, keeper, err
}
