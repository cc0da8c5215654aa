package load

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"pgflurry/tests/support/server"
)

// The statements. The second is answered from memory by a proxy, the third never.
const (
	single = "SELECT next_snowflake()"
	many   = "SELECT * FROM next_snowflakes(%d)"
	series = "SELECT next_snowflake() + 0 FROM generate_series(1, %d)"
)

const (
	mostAtOnce  = 10_000 // IDs of a large draw
	ofFunctions = 500    // IDs of a draw from the function
	inPool      = 4      // clients of a pool
)

// startProbes starts those that measure.
func (l *Load) startProbes() {
	if l.targets.Direct != "" {
		place := l.meter.Watch(function, "")
		for i, url := range hosts(l.t, l.targets.Direct) {
			l.probe(function, fmt.Sprint(function, " on host ", i+1), url, "", place.Success, true)
		}
	}
	for i, url := range l.targets.Proxies {
		at := fmt.Sprint(i + 1)
		l.probe(proxySession, proxySession+" "+at, url, ofProxies, l.meter.Watch(proxySession, at).Success, false)
		l.probe(proxyNew, proxyNew+" "+at, url, ofProxies, l.meter.Watch(proxyNew, at).Success, false)
	}
	if l.targets.AllProxies != "" {
		l.probe(anyProxy, anyProxy, l.targets.AllProxies, ofProxies, l.meter.Watch(anyProxy, "").Success, false)
	}
	for i, url := range l.targets.IDDatabases {
		at := fmt.Sprint(i + 1)
		l.probe(idSession, idSession+" "+at, url, ofIDDatabases, l.meter.Watch(idSession, at).Success, false)
		l.probe(idNew, idNew+" "+at, url, ofIDDatabases, l.meter.Watch(idNew, at).Success, false)
	}
}

// probe starts one that draws single IDs.
func (l *Load) probe(service, name, url, source string, success func(time.Time), stays bool) {
	c := &client{
		Load: l, kind: service, name: name, source: source, url: url, stays: stays, patience: l.set.Patience / 2,
		fresh: service == proxyNew || service == anyProxy || service == idNew, pause: l.pause,
	}
	if c.fresh {
		c.pause = l.pauseNew
	}
	c.draw(single, 1, success)
	c.start()
}

// startDraws starts those that draw many IDs, and those that do what applications do.
func (l *Load) startDraws() {
	places := len(l.targets.Proxies) + len(l.targets.IDDatabases)
	for i, url := range l.targets.Proxies {
		l.large("pgx, large draws of proxies", fmt.Sprint("large draws of proxy ", i+1), url, ofProxies, places)
	}
	for i, url := range l.targets.IDDatabases {
		l.large("pgx, large draws of ID databases", fmt.Sprint("large draws of ID database ", i+1), url,
			ofIDDatabases, places)
	}
	for kind, url := range map[string]string{
		"pgx, function on the primary":       l.targets.Direct,
		"pgx, function through HAProxy":      l.targets.HAProxy,
		"pgx, function relayed by a proxy":   l.targets.AllProxies,
		"pgx, single draws of several hosts": l.targets.AllProxies,
	} {
		if url == "" {
			continue
		}
		c := &client{Load: l, kind: kind, name: kind, url: url, pause: l.breath}
		if kind == "pgx, single draws of several hosts" {
			c.draw(single, 1, unmeasured)
		} else {
			c.pause = func() time.Duration { return 10 * l.set.Breath }
			c.draw(fmt.Sprintf(series, ofFunctions), ofFunctions, unmeasured)
		}
		c.start()
	}
	if l.targets.AllProxies != "" {
		l.pool(l.targets.AllProxies)
	}
}

func (l *Load) breath() time.Duration { return l.set.Breath }

// large starts a client that draws its share of the rate, in statements of many IDs.
func (l *Load) large(kind, name, url, source string, shares int) {
	rest := time.Duration(float64(mostAtOnce*shares) / float64(l.set.Rate) * float64(time.Second))
	c := &client{
		Load: l, kind: kind, name: name, url: url, source: source,
		pause: func() time.Duration { return rest },
	}
	c.draw(fmt.Sprintf(many, mostAtOnce), mostAtOnce, unmeasured)
	c.start()
}

// pool starts clients that share a pool of connections, as a web application does.
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
	for i := range inPool {
		c := &client{
			Load: l, kind: "pgxpool of several hosts", name: fmt.Sprint("pgxpool ", i+1), source: ofProxies,
		}
		l.running.Go(func() {
			defer pool.Close() // the last one that returns its connection is waited for by all
			for l.ctx.Err() == nil {
				c.drawFrom(pool)
				server.Pause(l.ctx, l.breath())
			}
		})
	}
}

func (c *client) drawFrom(pool *pgxpool.Pool) {
	ctx, cancel := context.WithTimeout(c.ctx, c.set.Patience)
	defer cancel()
	began := time.Now()
	var id int64
	if err := pool.QueryRow(ctx, single).Scan(&id); err != nil {
		c.failed(err)
		return
	}
	c.got(began, []int64{id})
}
