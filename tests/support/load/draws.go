package load

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"pgflurry/tests/support/meter"
	"pgflurry/tests/support/server"
)

// A proxy answers the first two statements from memory, and never the third.
const (
	single = "SELECT next_snowflake()"
	many   = "SELECT * FROM next_snowflakes(%d)"
	series = "SELECT next_snowflake() + 0 FROM generate_series(1, %d)"
)

const (
	mostAtOnce  = 10_000 // IDs of a large draw from a proxy
	ofFunctions = 500    // IDs of a large draw from the function
	inPool      = 4      // clients that share a pool
)

// startProbes starts the clients that measure.
func (l *Load) startProbes() {
	if l.targets.Direct != "" {
		place := l.meter.Watch(services, function, "")
		for i, url := range hosts(l.t, l.targets.Direct) {
			name := fmt.Sprint(function, " on host ", i+1)
			l.probe(&client{kind: function, name: name, url: url, stays: true}, place)
		}
	}
	for i, url := range l.targets.Proxies {
		l.probes(proxySession, proxyNew, i, &client{url: url, source: ofProxies})
	}
	if l.targets.AllProxies != "" {
		c := &client{kind: anyProxy, name: anyProxy, url: l.targets.AllProxies, source: ofProxies, fresh: true}
		l.probe(c, l.meter.Watch(services, anyProxy, ""))
	}
	for i, url := range l.targets.IDDatabases {
		l.probes(idSession, idNew, i, &client{url: url, source: ofIDDatabases})
	}
}

// probes starts a client with an open session, and one that connects for each draw.
func (l *Load) probes(session, fresh string, place int, c *client) {
	at := fmt.Sprint(place + 1)
	other := *c
	c.kind, c.name = session, session+" "+at
	l.probe(c, l.meter.Watch(services, session, at))
	other.kind, other.name, other.fresh = fresh, fresh+" "+at, true
	l.probe(&other, l.meter.Watch(services, fresh, at))
}

// probe starts a client that draws single IDs at a place.
func (l *Load) probe(c *client, place meter.Place) {
	c.Load, c.patience, c.pause, c.success = l, patience/2, l.pause, place.Success
	if c.fresh {
		c.pause = l.pauseNew
	}
	c.draw(single, 1)
	c.start()
}

// startDraws starts the clients that draw many IDs, and those that do what applications do.
func (l *Load) startDraws() {
	places := len(l.targets.Proxies) + len(l.targets.IDDatabases)
	for i, url := range l.targets.Proxies {
		l.large("pgx, large draws of proxies", fmt.Sprint("large draws of proxy ", i+1), url, ofProxies, places)
	}
	for i, url := range l.targets.IDDatabases {
		l.large("pgx, large draws of ID databases", fmt.Sprint("large draws of ID database ", i+1), url,
			ofIDDatabases, places)
	}
	l.series("pgx, several hosts, function", l.targets.Direct)
	l.series("pgx, HAProxy, function", l.targets.HAProxy)
	l.series("pgx, several proxies, function", l.targets.AllProxies)
	if l.targets.AllProxies != "" {
		kind := "pgx, several proxies"
		c := &client{Load: l, kind: kind, name: kind, source: ofProxies, url: l.targets.AllProxies}
		c.pause, c.success = resting(breath), l.meter.Watch(clients, kind, "").Success
		c.draw(single, 1)
		c.start()
		l.pool(l.targets.AllProxies)
	}
}

// series starts a client that draws from the function, by statements that no proxy answers.
func (l *Load) series(kind, url string) {
	if url == "" {
		return
	}
	c := &client{Load: l, kind: kind, name: kind, url: url, pause: resting(10 * breath)}
	c.success = l.meter.Watch(clients, kind, "").Success
	c.draw(fmt.Sprintf(series, ofFunctions), ofFunctions)
	c.start()
}

// resting returns a pause of constant length.
func resting(pause time.Duration) func() time.Duration { return func() time.Duration { return pause } }

// large starts a client that draws its share of the rate, in statements of many IDs.
func (l *Load) large(kind, name, url, source string, shares int) {
	rest := time.Duration(float64(mostAtOnce*shares) / float64(l.set.Rate) * float64(time.Second))
	c := &client{
		Load: l, kind: kind, name: name, url: url, source: source,
		pause: resting(rest),
	}
	c.draw(fmt.Sprintf(many, mostAtOnce), mostAtOnce)
	c.start()
}

// pool starts clients that share a pool of connections, as those of a web application do.
func (l *Load) pool(url string) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		l.t.Fatal(err)
	}
	config.MaxConns = inPool
	pool, err := pgxpool.NewWithConfig(l.ctx, config)
	if err != nil {
		l.t.Fatal(err)
	}
	const kind = "pgxpool, several proxies"
	place := l.meter.Watch(clients, kind, "")
	for i := range inPool {
		c := &client{
			Load: l, kind: kind, name: fmt.Sprint("pgxpool ", i+1), source: ofProxies, success: place.Success,
		}
		l.running.Go(func() {
			defer pool.Close() // all clients wait for the last one that returns its connection
			for l.ctx.Err() == nil {
				c.drawFrom(pool)
				server.Pause(l.ctx, breath)
			}
		})
	}
}

func (c *client) drawFrom(pool *pgxpool.Pool) {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	began := time.Now()
	var id int64
	if err := pool.QueryRow(ctx, single).Scan(&id); err != nil {
		c.failed(err)
		return
	}
	c.got(began, []int64{id})
	c.succeeded()
}
