package config

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// withIDs are settings with an ID database, as flags give them.
func withIDs(change func(*Given)) Given {
	s := Given{
		Settings: Settings{Name: "n", Window: time.Minute, IDDatabase: IDDatabase{Name: "pgflurry"}},
		Listen:   "127.0.0.1:6432", Upstream: "127.0.0.1:5432", LeaseDatabase: "postgres://u@127.0.0.1/app",
	}
	change(&s)
	return s
}

// elsewhereListener pretends that other machines can reach it.
type elsewhereListener struct{ net.Listener }

func (elsewhereListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 6432} }

func TestWhatCannotWorkWithAnIDDatabaseIsRefusedByTheNameOfItsFlag(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "clients")
	if err := os.WriteFile(file, []byte(`"shop" "md5d41d8cd98f00b204e9800998ecf8427e"`), 0o600); err != nil {
		t.Fatal(err)
	}
	const trust, hour = "trust", time.Hour
	for _, c := range []struct {
		says   string
		change func(s *Given, d *IDDatabase)
	}{
		{"--id-auth has no effect without --id-database", func(_ *Given, d *IDDatabase) {
			*d = IDDatabase{Auth: "cert"}
		}},
		{
			"--id-auth-file, --id-auth-max-age, --max-id-sessions, --id-idle-timeout, --id-segments have no effect",
			func(_ *Given, d *IDDatabase) {
				*d = IDDatabase{AuthFile: "f", AuthMaxAge: 1, MaxSessions: 1, IdleTimeout: 1, Segments: "app"}
			},
		},
		{"--id-database is app, which is the lease database", func(_ *Given, d *IDDatabase) { d.Name = "app" }},
		{"--id-database is template1, which each server", func(_ *Given, d *IDDatabase) { d.Name = "template1" }},
		{"--id-database is b, which is one of --databases", func(s *Given, d *IDDatabase) {
			s.Databases, d.Name = []string{"a", "b"}, "b"
		}},
		{"--id-database has 64 bytes; expected at most 63", func(_ *Given, d *IDDatabase) {
			d.Name = strings.Repeat("x", 64)
		}},
		{`--id-database is "a\nb"; expected a name without`, func(_ *Given, d *IDDatabase) { d.Name = "a\nb" }},
		{"--id-database is a value that may hold a password", func(_ *Given, d *IDDatabase) {
			d.Name = "postgres://u:p@h/d"
		}},
		{`--id-auth is "md5"; expected scram-sha-256, cert or`, func(_ *Given, d *IDDatabase) { d.Auth = "md5" }},
		{"--id-auth cert needs --client-tls-ca", func(_ *Given, d *IDDatabase) { d.Auth = "cert" }},
		{"--max-id-sessions is -1; expected 0 for no limit", func(_ *Given, d *IDDatabase) { d.MaxSessions = -1 }},
		{"--id-idle-timeout is -1h0m0s; expected at least 1ms", func(_ *Given, d *IDDatabase) {
			d.IdleTimeout = -hour
		}},
		{
			"--id-auth-max-age is 1ms, but accounts are read every 5s; expected at least 15s, or 0",
			func(_ *Given, d *IDDatabase) { d.AuthMaxAge = time.Millisecond },
		},
		{`--id-segments is "x"; expected one of --databases: app`, func(_ *Given, d *IDDatabase) {
			d.Segments = "x"
		}},
		{"--id-auth-file: " + file + ": line 1:", func(_ *Given, d *IDDatabase) { d.AuthFile = file }},
		{"--id-auth-file: open /not/there", func(_ *Given, d *IDDatabase) { d.AuthFile = "/not/there" }},
		{"other machines reach --listen :6432; expected a loopback address", func(s *Given, d *IDDatabase) {
			d.Auth, s.Listen = trust, ":6432"
		}},
		{"other machines reach --listen db1:6432; expected", func(s *Given, d *IDDatabase) {
			d.Auth, s.Listen = trust, "db1:6432"
		}},
		{"other machines reach --listen 10.0.0.7:6432; expected", func(s *Given, d *IDDatabase) {
			d.Auth, s.Listener = trust, elsewhereListener{}
		}},
		{"--id-auth-file or --id-auth-max-age has no effect with --id-auth trust", func(_ *Given, d *IDDatabase) {
			d.Auth, d.AuthMaxAge = trust, hour
		}},
	} {
		g := withIDs(func(s *Given) { c.change(s, &s.IDDatabase) })
		_, err := g.Parse()
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v; expected %q", err, c.says)
		}
	}
	trusted := func(s *Given) { s.IDDatabase.Auth = trust }
	for name, change := range map[string]func(*Given){
		"a name alone":                  func(*Given) {},
		"trust on loopback":             func(s *Given) { trusted(s); s.Listen = "[::1]:6432" },
		"trust on a Unix socket":        func(s *Given) { trusted(s); s.Listen = "/run/pgflurry/.s.PGSQL.6432" },
		"the lease database's segments": func(s *Given) { s.IDDatabase.Segments = "app" },
		"SCRAM on every interface":      func(s *Given) { s.Listen = ":6432" },
	} {
		g := withIDs(change)
		if _, err := g.Parse(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAllThatIsWrongWithAnIDDatabaseIsToldAtOnceWithAllElse(t *testing.T) {
	t.Parallel()
	g := withIDs(func(s *Given) {
		s.Upstream, s.IDDatabase.Name, s.IDDatabase.Auth, s.IDDatabase.MaxSessions = "", "postgres", "cert", -1
	})
	_, err := g.Parse()
	for _, flag := range []string{"--upstream", "--id-database", "--id-auth", "--max-id-sessions"} {
		if err == nil || !strings.Contains(err.Error(), flag) {
			t.Errorf("%v; expected a word about %s", err, flag)
		}
	}
}
