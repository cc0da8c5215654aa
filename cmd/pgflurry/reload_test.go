package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
)

// reloading returns the reloader of a serve with these arguments, the settings that it gives to the node, and its log.
func reloading(t *testing.T, environ []string, args ...string) (
	r *reloader, got *[]config.Settings, log *bytes.Buffer,
) {
	t.Helper()
	var o serveOptions
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	o.add(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	c := source.Read(flags, environ)
	s := o.settings(c)
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	got, log = &[]config.Settings{}, &bytes.Buffer{}
	s.Log = slog.New(slog.NewTextHandler(log, nil))
	r = newReloader(c, environ, &o, s)
	r.refused = func(cause string) { fmt.Fprintln(log, "refused:", cause) }
	r.give = func(s config.Settings) error {
		*got = append(*got, s)
		return nil
	}
	return r, got, log
}

// again rewrites a file and reloads it. It returns what was logged.
func again(t *testing.T, r *reloader, log *bytes.Buffer, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	r.reload()
	return log.String()
}

const leaseOf = "lease-database = \"postgres://u:s3cret@127.0.0.1:1/d\"\nupstream = \"127.0.0.1:1\"\n"

func TestAfterAReloadFlagsAndEnvironmentStillWinOverTheFile(t *testing.T) {
	path := written(t, "pgflurry.toml", leaseOf)
	r, got, log := reloading(t, []string{"PGFLURRY_MAX_LOGINS=7"}, "--config", path, "--databases", "app,reports",
		"--max-connections", "5", "--login-timeout", "3s")
	said := again(t, r, log, path, leaseOf+"databases = [\"other\"]\nmax-connections = 6\nmax-logins = 8\n"+
		"login-timeout = \"4s\"\nclient-tls-timeout = \"2s\"\nlog-level = \"debug\"\n")
	if len(*got) != 1 {
		t.Fatalf("the node was given %d settings: %s", len(*got), said)
	}
	s := (*got)[0]
	if !slices.Equal(s.Databases, []string{"app", "reports"}) || s.Limits.MaxConnections != 5 ||
		s.Limits.MaxLogins != 7 || s.Limits.LoginTimeout != 3*time.Second ||
		s.Limits.ClientTLSTimeout != 2*time.Second {
		t.Errorf("the node was given %v and %+v", s.Databases, s.Limits)
	}
	if !strings.Contains(said, "level=INFO") || !strings.Contains(said, "changed=client-tls-timeout,log-level\n") {
		t.Errorf("the log says %s", said)
	}
	if r.threshold.Level() != slog.LevelDebug {
		t.Errorf("the log begins at %v", r.threshold.Level())
	}
}

func TestWhatWaitsForARestartIsNamedUntilItIsTakenBack(t *testing.T) {
	path := written(t, "pgflurry.toml", leaseOf)
	r, _, log := reloading(t, nil, "--config", path)
	for range 2 {
		said := again(t, r, log, path, leaseOf+"window = \"50s\"\nnode = \"another\"\n")
		if !strings.Contains(said, "level=WARN") || !strings.Contains(said, "needs_restart=node,window") ||
			!strings.Contains(said, "changed=nothing") {
			t.Errorf("the log says %s", said)
		}
	}
	said := again(t, r, log, path, leaseOf)
	if strings.Contains(said, "needs_restart") || !strings.Contains(said, "level=INFO") {
		t.Errorf("the log says %s", said)
	}
	for content, says := range map[string]string{
		strings.Replace(leaseOf, "s3cret", "n3w", 1):    "changed=lease-database",
		strings.Replace(leaseOf, "1:1/d", "1:1/e", 1):   "needs_restart=lease-database",
		strings.Replace(leaseOf, "u:s3cret", "v:x", 1):  "needs_restart=lease-database",
		strings.Replace(leaseOf, "/d", "/d?a=s3cr3", 1): "needs_restart=lease-database",
	} {
		said := again(t, r, log, path, content)
		if !strings.Contains(said, says) || strings.Contains(said, "postgres:") {
			t.Errorf("expected %s, but the log says %s", says, said)
		}
		again(t, r, log, path, leaseOf)
	}
}

func TestAFileWithAnythingWrongIsGivenToNobody(t *testing.T) {
	path := written(t, "pgflurry.toml", leaseOf)
	r, got, log := reloading(t, nil, "--config", path)
	said := again(t, r, log, path, leaseOf+"windw = 1\nmax-logins = -1\nlog-level = \"debug\"\n")
	if len(*got) != 0 || r.threshold.Level() != slog.LevelInfo {
		t.Errorf("the node was given %d settings, and the log begins at %v", len(*got), r.threshold.Level())
	}
	if strings.Count(said, "\n") != 2 || !strings.Contains(said, "\nrefused: ") ||
		!strings.Contains(said, "level=ERROR") || !strings.Contains(said, "windw") ||
		!strings.Contains(said, "--max-logins is -1") {
		t.Errorf("the log says %s", said)
	}
	r.give = func(config.Settings) error { return errors.New("the node does not take it") }
	said = again(t, r, log, path, leaseOf+"max-logins = 9\n")
	if !strings.Contains(said, "level=ERROR") || !strings.Contains(said, "the node does not take it") ||
		r.values["max-logins"] != "512" {
		t.Errorf("the log says %s, and --max-logins is %s", said, r.values["max-logins"])
	}
}
