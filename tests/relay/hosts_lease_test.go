package relay

import (
	"fmt"
	"strings"
	"testing"

	"pgflurry/internal/postgres"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestAHostOfTheLeaseURLThatHangsCostsItsShareOfAnAttemptAndNoLease(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	hangs := server.Private(t, nil)
	server.Freeze(t, hangs)
	url := leaseAt(hangs, p.standby, p.primary)
	program.Serve(t, p.primary.URL("postgres"), "n", "--lease-database", url)
}

func TestAfterAFailoverTheLeaseAndTheSurveyAreKeptAtTheNewPrimary(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.serve(p.both(), "--upstream-primary", "--window", "3s", "--admin-listen", "127.0.0.1:0")
	server.Eventually(t, server.Connect(t, p.primary.URL("postgres")),
		"EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'pgflurry serve, survey')")
	p.failOver() // the former primary hangs and still holds its connections
	there := server.Connect(t, p.standby.URL("postgres"))
	mark := server.Value[int64](t, there, "SELECT max(reserved_until) FROM pgflurry.worker WHERE node = 'n'")
	server.Eventually(t, there, "(SELECT max(reserved_until) FROM pgflurry.worker WHERE node = 'n') > $1::bigint", mark)
	server.Eventually(t, there,
		"EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'pgflurry serve, survey')")
}

// leaseAt returns a connection string with these hosts in this order.
func leaseAt(all ...*postgres.Cluster) string {
	hosts, ports := make([]string, len(all)), make([]string, len(all))
	for i, c := range all {
		hosts[i], ports[i] = "127.0.0.1", fmt.Sprint(c.Port)
	}
	return fmt.Sprintf("host=%s port=%s user=postgres dbname=postgres sslmode=disable",
		strings.Join(hosts, ","), strings.Join(ports, ","))
}
