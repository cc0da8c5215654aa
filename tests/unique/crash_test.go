package unique

import (
	"testing"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAfterAnImmediateShutdownAndARestartEverybodyGoesOnAndNothingComesTwice(t *testing.T) {
	t.Parallel()
	r := ownServer(t, threeWorkers)
	r.do("CREATE TABLE item (id bigint DEFAULT next_snowflake() PRIMARY KEY)")
	link, through := network.To(t, r.direct)
	proxies := []*program.Proxy{program.Serve(t, through, "one", short), program.Serve(t, through, "two", short)}
	for range 2 {
		for _, p := range proxies {
			conn := server.Connect(t, p.URL)
			r.drawUntil(conn, r.byProxy)
			r.draw(conn, 500)
			r.note(ask[int64](r, "INSERT INTO item DEFAULT VALUES RETURNING id"))
			r.draw(r.conn, 500)
		}
		server.Crash(t, r.cluster)
		r.cluster = server.Again(t, r.cluster.Data, 0) // another process may have taken its port
		r.switchTo(r.cluster.URL("postgres"))
		link.Lead(server.Parse(t, r.direct).Host)
		for _, p := range proxies {
			conn := r.again(p.URL)
			r.draw(conn, 500)
			r.drawUntil(conn, r.byProxy)
			r.note(ask[int64](r, "INSERT INTO item DEFAULT VALUES RETURNING id"))
			r.draw(r.conn, 500)
		}
	}
}
