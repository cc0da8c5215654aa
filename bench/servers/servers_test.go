package servers

import "testing"

func TestNoPasswordIsInTheCommandThatResultsShow(t *testing.T) {
	for given, want := range map[Servers]string{
		{}: "",
		{Postgres: Server{URL: "postgres://me:secret@db/app"}, Proxy: Server{URL: "postgres://me@db:6432/app"}}: "" +
			" --postgres 'postgres:…@db/app' --proxy 'postgres:…@db:6432/app'",
		{Postgres: Server{URL: `host=db user='me' password='se\'cret it is'`}}: "" +
			` --postgres 'host=db user='\''me'\'' password=…'`,
		{Redis: Server{URL: "redis://:secret@cache/1"}}: " --redis 'redis:…@cache/1'",
	} {
		if got := given.Options(); got != want {
			t.Errorf("%s; expected %s", got, want)
		}
	}
}
