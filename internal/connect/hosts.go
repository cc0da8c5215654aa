package connect

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// PassOverStandbys makes connections go to the primary if config names several hosts and does not choose among them.
func PassOverStandbys(config *pgconn.Config) {
	if config.ValidateConnect == nil && hosts(config) > 1 {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	}
}

// ForLease prepares config for the lease role, which may meet standbys and poolers.
func ForLease(config *pgx.ConnConfig) {
	PassOverStandbys(&config.Config)
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // leaves no prepared statement behind in a pooler
}

// ShareTime gives each host of config an equal share of the time that ctx has left. So a host that hangs leaves time
// for the others. A shorter connect_timeout stays.
func ShareTime(ctx context.Context, config *pgconn.Config) {
	deadline, bounded := ctx.Deadline()
	n := hosts(config)
	if !bounded || n == 1 {
		return
	}
	share := max(time.Until(deadline)/time.Duration(n), time.Millisecond)
	if config.ConnectTimeout == 0 || share < config.ConnectTimeout {
		config.ConnectTimeout = share
	}
}

// hosts returns how many hosts config names. A host with and without TLS counts once.
func hosts(config *pgconn.Config) int {
	type host struct {
		name string
		port uint16
	}
	all := map[host]bool{{config.Host, config.Port}: true}
	for _, f := range config.Fallbacks {
		all[host{f.Host, f.Port}] = true
	}
	return len(all)
}
