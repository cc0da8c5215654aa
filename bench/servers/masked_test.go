package servers

import "testing"

func TestNoPasswordIsInTheCommandThatResultsShow(t *testing.T) {
	for given, want := range map[Servers]string{
		{}: "",
		{Postgres: Server{URL: "postgres://me:secret@db/app?sslmode=require"}, Proxy: Server{
			URL: "postgres://me@db:6432/app",
		}}: " --postgres 'postgres://me:xxxxx@db/app?sslmode=require' --proxy 'postgres://me@db:6432/app'",
		{
			Postgres: Server{URL: "postgres:///app?host=db&password=secret&sslpassword=secret"},
		}: " --postgres 'postgres:///app?host=db&password=xxxxx&sslpassword=xxxxx'",
		{
			Postgres: Server{URL: `host=db password='se\'cret it is' sslPassword = se\ cret dbname=app`},
		}: " --postgres 'host=db password=xxxxx sslPassword = xxxxx dbname=app'",
		{Postgres: Server{URL: "postgres://me:sec%ret@db"}}: " --postgres 'xxxxx'",
		{
			Pooler: Server{URL: "host=db user='me'"}, Redis: Server{URL: "redis://:secret@cache/1"},
		}: ` --pgbouncer 'host=db user='\''me'\''' --redis 'redis://:xxxxx@cache/1'`,
	} {
		if got := given.Options(); got != want {
			t.Errorf("%s; expected %s", got, want)
		}
	}
}
