package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/tests/support/scripted"
)

// broken are malformed connection strings. The pieces of the password are s3 and cret.
var broken = []string{
	"postgres://owner:s3/cret@h/db", "postgres://owner:s3#cret@h/db", "postgres://owner:s3%ZZcret@h/db",
	"postgres://owner:s3 cret@h/db", "postgres://owner:s3`: cret%ZZ@h/db", "postgres://owner:s3cret/db",
	"postgres://owner:s3cret", "postgres://owner:s3cret@h:port/db", "postgres://owner:5432/s3cret@h/db",
	"postgres://owner:5432#s3cret@h/db",
	"postgres://owner@corp:5432/s3cret@h/db",
	"Postgres://owner:s3cret@h/db?sslmode=disable", "http://owner:s3cret@h/db?a=b", " postgres://owner:s3cret@h/db?a=b",
	"'postgres://owner:s3cret@h/db?a=b'", "owner:s3cret@h/db", "postgres//owner:s3cret@h/db",
	"postgres:/owner:s3cret@h/db?a=b", "host=h password=s3 cret", "host=h password=s3 cret user=x",
	"host=h password='s3 cret", "host=h password='s3'cret' user=x", "host=h port=x password=s3cret",
	"host=h password=s3 c/r@et=1 s3cret", "host=h sslmode=s3cret PASSWORD=x",
	"postgres://owner:s3cret@h/db?sslmode=odd", "postgres://owner@h/db?password=s3%ZZcret",
	"postgres://owner@h/db?passwrd=s3&cret;",
}

// said runs a command. It returns all output, with the error as main prints it.
func said(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second) // for a command that is not refused
	defer cancel()
	_, err := execute(ctx, root, args)
	if err != nil {
		out.WriteString(complaint(err))
	}
	return out.String(), err
}

// leaks says whether a text has a piece of the password.
func leaks(text string) bool {
	return strings.Contains(text, "s3") || strings.Contains(text, "cret")
}

// urlFlags are all flags that take a connection string. Each command has the other flags that it needs.
var urlFlags = []struct{ command, flag string }{
	{"serve --upstream 127.0.0.1:1 --listen 127.0.0.1:0", "lease-database"},
	{"demo --listen 127.0.0.1:0", "postgres"},
	{"migrate up", "database"},
	{"namespace join --database postgres://u@127.0.0.1:1/d", "home"},
	{"migrate down", "database"},
	{"migrate status", "database"},
	{"workers list", "database"},
	{"workers history", "database"},
	{"workers retire 1", "database"},
	{"workers reseed --yes", "database"},
	{"clients add a --certificate-only", "database"},
	{"clients list", "database"},
	{"clients remove a", "database"},
	{"clients expire a", "database"},
	{"decode 1", "database"},
}

func TestNoPieceOfAPasswordIsPrintedOfAConnectionStringThatCannotBeRead(t *testing.T) {
	for _, c := range urlFlags {
		for _, url := range broken {
			text, err := said(t, append(strings.Fields(c.command), "--"+c.flag, url)...)
			if err == nil || !strings.Contains(text, "--"+c.flag) || leaks(text) {
				t.Errorf("%s --%s '%s':\n%s", c.command, c.flag, url, text)
			}
		}
	}
}

func TestNoPieceOfAPasswordIsPrintedFromTheEnvironment(t *testing.T) {
	for _, c := range urlFlags {
		if c.flag == "home" {
			continue // the flag consents, so only the command line may give it
		}
		t.Setenv(source.Variable(c.flag), broken[0])
		if text, err := said(t, strings.Fields(c.command)...); err == nil ||
			!strings.Contains(text, "--"+c.flag) || leaks(text) {
			t.Errorf("%s: %s", c.command, text)
		}
	}
	for _, name := range []string{
		"WINDOW", "MAX_CONNECTIONS", "UPSTREAM", "LISTEN", "DATABASES", "DATACENTER", "LOG_LEVEL", "LOG_FORMAT",
		"CLIENT_TLS", "CLIENT_AUTH", "UPSTREAM_TLS",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PGFLURRY_LEASE_DATABASE", "postgres://u@127.0.0.1:1/d")
			t.Setenv("PGFLURRY_UPSTREAM", "127.0.0.1:1")
			t.Setenv(source.VariablePrefix+name, "postgres://owner:s3cret@h/db")
			if text, err := said(t, "serve"); err == nil || leaks(text) {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

func TestNoPieceOfAPasswordIsPrintedWhereAConnectionStringIsOutOfPlace(t *testing.T) {
	serve := "serve --lease-database postgres://u@127.0.0.1:1/d --upstream 127.0.0.1:1 --listen 127.0.0.1:0 "
	for _, line := range []string{
		"URL", "migrate URL", "migrate up URL", "migrate down URL", "migrate status URL", "migrate print URL",
		"workers URL", "workers list URL", "workers retire URL", "workers history URL", "workers reseed URL",
		"clients add URL", "clients add a URL", "clients list URL", "clients remove URL", "clients expire URL",
		"clients add a --valid-until URL", "clients add a --connection-limit URL", "clients expire a --at URL",
		"serve URL", "demo URL", "health URL", "decode URL", "migrate up -database=URL", "migrate up -database URL",
		"migrate up -d URL", "migrate up --databas=URL", "migrate up --URL", "migrate up --=URL", "migrate up -URL",
		"migrate up --database postgres://u@127.0.0.1:1/d --unit URL",
		"migrate up --database postgres://u@127.0.0.1:1/d --layout URL",
		"migrate up --database postgres://u@127.0.0.1:1/d --epoch URL",
		"decode --layout URL 1", "decode --unit URL 1", "health --listen URL", "demo --listen URL",
		serve + "--upstream URL", serve + "--listen URL", serve + "--databases URL", serve + "--databases app,URL",
		serve + "--datacenter URL", serve + "--window URL",
		serve + "--drain-timeout URL", serve + "--max-connections URL", serve + "--login-timeout URL",
		serve + "--log-level URL", serve + "--log-format URL",
		serve + "--client-tls URL", serve + "--client-auth URL", serve + "--upstream-tls URL",
		serve + "--client-tls-cert URL --client-tls-key URL",
		serve + "--upstream-tls require --upstream-tls-cert URL --upstream-tls-key URL",
		serve + "--upstream-tls verify-full --upstream-tls-ca URL",
	} {
		for _, url := range []string{
			"postgres://owner:s3cret@h:5432/db", "postgres://owner:s3 cr@cret@h/db?sslmode=disable",
			"owner:s3cret@h/db", "host=h password=s3cret", "host=h password='s3 cret'",
		} {
			args := strings.Fields(line)
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "URL", url)
			}
			if text, err := said(t, args...); err == nil || leaks(text) {
				t.Errorf("%s with %s (%v):\n%s", line, url, err, text)
			}
		}
	}
}

// A URL without its scheme and with a space in the password looks like nothing known, so no mask can hide it. Our
// messages must not quote it.
func TestOurOwnMessagesDoNotQuoteWhatMayHoldAPassword(t *testing.T) {
	const url = "owner:s3 cret@h/db"
	serve := "serve --lease-database postgres://u@127.0.0.1:1/d --listen 127.0.0.1:0 "
	for _, line := range []string{
		"URL", "migrate up URL", "workers retire URL", "migrate up --epoch URL --database postgres://u@127.0.0.1:1/d",
		"clients add a URL", "clients add a --valid-until URL", "clients expire a --at URL",
		"migrate up -database=URL", "migrate up --unit URL",
		serve + "--upstream URL", serve + "--window URL", serve + "--max-connections URL",
		serve + "--datacenter URL --upstream 127.0.0.1:1",
		serve + "--log-level URL", serve + "--log-format URL", serve + "--client-tls URL", serve + "--client-auth URL",
		serve + "--databases URL --upstream 127.0.0.1:1",
	} {
		args := strings.Fields(line)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "URL", url)
		}
		if text, err := said(t, args...); err == nil || leaks(text) {
			t.Errorf("%s (%v):\n%s", line, err, text)
		}
	}
	t.Setenv("PGFLURRY_WINDOW", url)
	if text, err := said(t, "serve"); err == nil || leaks(text) {
		t.Errorf("PGFLURRY_WINDOW (%v): %s", err, text)
	}
}

func TestAServerThatRepeatsAParameterDoesNotGiveAwayTheRestOfAPassword(t *testing.T) {
	for code, message := range map[string]string{
		"42704": `unrecognized configuration parameter "cret"`,
		"08P01": "unsupported startup parameter: cret",
	} {
		address := scripted.Refusing(t, &pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: message})
		host, port, _ := strings.Cut(address, ":")
		config, err := connect.Parse("database",
			"host="+host+" port="+port+" sslmode=disable user=u password='s3'cret=x")
		if err != nil {
			t.Fatal(err)
		}
		_, err = pgx.ConnectConfig(t.Context(), config)
		if text := complaint(connect.Explain(err)); !strings.Contains(text, code) || leaks(text) {
			t.Error(text)
		}
	}
}
