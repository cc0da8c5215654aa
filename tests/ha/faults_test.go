//go:build full && linux

package ha

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/tests/support/machines"
	"pgflurry/tests/support/server"
)

// A fault happens to the cluster. When happen returns, the fault is undone and the cluster may recover.
type fault struct {
	what   string
	often  int // how often in a round; 0: it causes no failover, and two such faults are in each round
	happen func(c *cluster, now state, dice *rand.Rand)
	slow   bool // recovery takes more than a minute
}

// hold is the duration of a fault that causes no failover. It is longer than Patroni's ttl in a storm. For the same
// time two servers may both believe that they are the primary. That is longer than a promoted server's function is
// ahead of the clock.
const hold = 6 * time.Second

var faults = []fault{
	{"kill -9 of the primary's postmaster", 3, func(c *cluster, now state, _ *rand.Rand) {
		c.killPostmaster(now.primary)
		c.elsewhere(now)
	}, false},
	{"kill -9 of the primary's Patroni, started again at once", 0, func(c *cluster, now state, _ *rand.Rand) {
		c.services[now.primary].Kill()
		c.start(now.primary)
	}, false},
	{"kill -9 of the primary's Patroni, started again after a failover", 1, func(c *cluster, now state, _ *rand.Rand) {
		c.services[now.primary].Kill() // its PostgreSQL runs on, and nobody stops it
		c.elsewhere(now)
		c.hold()
		c.start(now.primary)
	}, false},
	{"kill -9 of a member of etcd", 0, func(c *cluster, _ state, dice *rand.Rand) {
		name := one(dice, etcds)
		c.services[name].Kill()
		c.hold()
		c.start(name)
	}, false},
	{"the primary's machine loses power", 1, func(c *cluster, now state, _ *rand.Rand) {
		c.world.Machine(now.primary).Crash()
		c.elsewhere(now)
		c.start(now.primary)
	}, false},
	{"partition of the primary from etcd", 1, func(c *cluster, now state, _ *rand.Rand) {
		c.world.Part([]string{now.primary}, etcds)
		c.elsewhere(now)
		c.world.Heal()
	}, false},
	{"partition of the primary from its standbys", 0, func(c *cluster, now state, _ *rand.Rand) {
		c.world.Part([]string{now.primary}, others(now))
		c.hold()
		c.world.Heal()
	}, false},
	{"partition of the primary from all servers", 1, func(c *cluster, now state, _ *rand.Rand) {
		c.world.Part([]string{now.primary}, slices.Concat(etcds, others(now), []string{balancer}, proxies))
		c.elsewhere(now)
		c.world.Heal()
	}, false},
	{"partition of a proxy from all servers", 0, func(c *cluster, _ state, dice *rand.Rand) {
		c.world.Part([]string{one(dice, proxies)}, slices.Concat(dbs, []string{balancer}))
		c.hold()
		c.world.Heal()
	}, false},
	{"nothing arrives from the primary at etcd", 1, func(c *cluster, now state, _ *rand.Rand) {
		for _, name := range etcds {
			c.world.Cut(now.primary, name)
		}
		c.elsewhere(now)
		c.world.Heal()
	}, false},
	{"nothing arrives from etcd at the primary", 1, func(c *cluster, now state, _ *rand.Rand) {
		for _, name := range etcds {
			c.world.Cut(name, now.primary)
		}
		c.elsewhere(now)
		c.world.Heal()
	}, false},
	{"nothing arrives from the primary at its standbys", 0, func(c *cluster, now state, _ *rand.Rand) {
		for _, name := range others(now) {
			c.world.Cut(now.primary, name)
		}
		c.hold()
		c.world.Heal()
	}, false},
	{"nothing arrives from its standbys at the primary", 0, func(c *cluster, now state, _ *rand.Rand) {
		for _, name := range others(now) {
			c.world.Cut(name, now.primary)
		}
		c.hold()
		c.world.Heal()
	}, false},
	{"the primary's machine is paused, and wakes as a primary", 1, func(c *cluster, now state, _ *rand.Rand) {
		c.world.Machine(now.primary).Pause()
		c.elsewhere(now)
		c.hold()
		c.world.Machine(now.primary).Wake()
	}, false},
	{"the primary's PostgreSQL is paused, and wakes as a primary", 1, func(c *cluster, now state, _ *rand.Rand) {
		c.world.Machine(now.primary).PausePostgres()
		c.elsewhere(now)
		c.hold()
		c.world.Machine(now.primary).Wake()
	}, false},
	{"switchover", 3, func(c *cluster, now state, _ *rand.Rand) {
		c.until(func() error {
			_, err := c.tell("POST", now.primary, "/switchover", map[string]any{"leader": now.primary})
			if c.moved(now) {
				return nil // it was heard, and only its answer was lost: Patroni refuses another one for ever
			}
			return err
		})
		c.elsewhere(now)
	}, false},
	{"a primary that wrote alone loses power, and is rewound", 1, rewound, false},
	{"the primary's disk is full", 1, diskFull, false},
	{"a server's clock is 10 s ahead", 0, clockFault(10 * time.Second), false},
	{"a server's clock is 10 s behind", 0, clockFault(-10 * time.Second), false},
	{"a server's clock is an hour ahead", 0, clockFault(time.Hour), true},
	{"a server's clock is an hour behind", 0, clockFault(-time.Hour), true},
}

func one(dice *rand.Rand, of []string) string { return of[dice.IntN(len(of))] }

// others returns the servers that are not primary.
func others(now state) []string {
	return slices.DeleteFunc(slices.Clone(dbs), func(name string) bool { return name == now.primary })
}

// hold lets a fault last, under load.
func (c *cluster) hold() { server.Pause(c.t.Context(), hold) }

// killPostmaster kills the parent of all processes of PostgreSQL.
func (c *cluster) killPostmaster(name string) {
	c.t.Helper()
	m := c.world.Machine(name)
	text, err := os.ReadFile(filepath.Join(m.Disk(), "data", "postmaster.pid"))
	if err != nil {
		c.t.Fatal(err)
	}
	pid, _, _ := strings.Cut(string(text), "\n")
	<-m.Start(c.t, machines.Command{Name: "kill", Args: []string{"-9", pid}, Log: os.DevNull}).Exited()
}

// rewound writes WAL on the primary that no standby gets. Patroni must rewind that server before it can follow.
func rewound(c *cluster, now state, _ *rand.Rand) {
	conn, err := pgx.Connect(c.t.Context(), at(now.primary, "app", "postgres", superuser))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(c.t.Context())
	c.world.Part([]string{now.primary}, others(now))
	// A commit that no standby must hear of writes that WAL to the disk. Otherwise the crash may take it along, and
	// there is nothing to rewind.
	server.Do(c.t, conn, "SET synchronous_commit = local")
	server.Do(c.t, conn,
		"SELECT pg_logical_emit_message(true, 'alone', repeat('-', 1000)) FROM generate_series(1, 1000)")
	c.world.Machine(now.primary).Crash()
	c.elsewhere(now)
	c.world.Heal()
	said := len(c.services[now.primary].Log())
	elsewhere := c.moved(now)
	c.start(now.primary)
	if !elsewhere {
		return // an asynchronous cluster may wait for its primary, which then goes on with all that it wrote
	}
	c.until(func() error {
		if !strings.Contains(c.services[now.primary].Log()[said:], "running pg_rewind") {
			return fmt.Errorf("%s was not rewound", now.primary)
		}
		return nil
	})
}

// diskFull writes on the primary until it fails.
func diskFull(c *cluster, now state, _ *rand.Rand) {
	m := c.world.Machine(now.primary)
	conn, err := pgx.Connect(c.t.Context(), at(now.primary, "app", "postgres", superuser))
	if err != nil {
		c.t.Fatal(err)
	}
	defer conn.Close(c.t.Context())
	m.Fill()
	for err == nil {
		_, err = conn.Exec(c.t.Context(),
			"SELECT pg_logical_emit_message(false, 'full', repeat('-', 1000000)) FROM generate_series(1, 4)")
	}
	c.elsewhere(now)
	m.Free()
	// The old primary's last record ends where there was no room for the next segment. A standby that has a part of
	// that segment asks the new primary for it, in vain until there is one. Nothing here writes that much, so end the
	// segment.
	server.Do(c.t, c.connect(primaryURL("postgres", superuser)), "SELECT pg_switch_wal()")
}

func clockFault(ahead time.Duration) func(*cluster, state, *rand.Rand) {
	return func(c *cluster, _ state, dice *rand.Rand) {
		m := c.world.Machine(one(dice, dbs))
		m.SetClock(ahead)
		c.hold()
		m.SetClock(0)
		c.hold() // until a key that nobody renews has expired
	}
}
