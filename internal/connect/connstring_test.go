package connect_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/tests/support/scripted"
)

func TestAURLThatCannotBeReadIsNeverRepeated(t *testing.T) {
	const neither = "it is neither a URL that begins with postgres://, nor a list such as host=localhost dbname=app"
	const unescaped = "the password, or what else stands before the @, has a /, ? or # that is not written as %XX"
	const spaced = "the password, or what else stands before the @, has a space that is not written as %20"
	for url, reason := range map[string]string{
		"postgres://owner:s3cret@localhost:port/app": "invalid port",
		"postgres://owner:s3/cret@localhost/app":     unescaped,
		"postgres://owner:3/cret@localhost/app":      unescaped,
		"postgres://owner:s3?cret@localhost/app":     unescaped,
		"postgres://owner:s3#cret@localhost/app":     unescaped,
		"postgres://owner:s3cret%zz@localhost/app":   "a % in it does not stand before two hexadecimal digits",
		"postgres://owner:s3 cret@localhost/app":     spaced,
		"owner:s3cret@localhost/app":                 neither,
		"host=localhost port=x password=s3cret":      "invalid port",
		"host=localhost password='s3cret":            neither,
		"jdbc:postgresql://localhost/app":            neither,
		"postgresql+asyncpg://owner@localhost/app":   neither,
		"postgres://local host/app": `failed to parse as URL ` +
			`(unexpected spaces found in "local host", use percent-encoded spaces (%20) instead)`,
		"postgres://owner:s3cret@localhost/app?sslmode=odd": "failed to configure TLS",
	} {
		_, err := connect.Parse("database", url)
		if err == nil || err.Error() != "--database is not a connection string: "+reason {
			t.Errorf("%s: %v, want %s", url, err, reason)
			continue
		}
		if all := err.Error() + fault.HintOf(err); strings.Contains(all, "s3") || strings.Contains(all, "cret@") ||
			!strings.Contains(all, connect.Form) {
			t.Errorf("%s: %s", url, all)
		}
	}
	if _, err := connect.Parse("join", ""); err == nil || !strings.Contains(err.Error(), "--join is missing") {
		t.Errorf("no URL: %v", err)
	}
}

func TestAParameterOfAnotherLibraryIsNamedWithWhatToDo(t *testing.T) {
	for parameter, says := range map[string]struct{ library, advice string }{
		"schema=public":      {"schema, which is for Prisma", "keeps its tables in schema pgflurry"},
		"pgbouncer=true":     {"pgbouncer, which is for Prisma", "Leave it out."},
		"connection_limit=5": {"connection_limit, which is for Prisma", "Leave it out."},
		"prepareThreshold=0": {"prepareThreshold, which is for JDBC", "Leave it out."},
	} {
		_, err := connect.Parse("database", "postgres://owner:s3cret@localhost/app?"+parameter)
		if err == nil || !strings.Contains(err.Error(), "--database has the parameter "+says.library) ||
			!strings.Contains(fault.HintOf(err), says.advice) || fault.KindOf(err) != fault.Usage {
			t.Errorf("%s: %v, hint %q", parameter, err, fault.HintOf(err))
		}
	}
	const known = "postgres://a@b/c?application_name=me@home&sslmode=disable&options=-csearch_path%3Dx&work_mem=4MB"
	if _, err := connect.Parse("database", known); err != nil {
		t.Errorf("what PostgreSQL knows: %v", err)
	}
}

func TestAConnectionThatFailsSaysItsLastCauseOnceAndWhatToDo(t *testing.T) {
	wrong := scripted.Refusing(t, &pgproto3.ErrorResponse{
		Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "owner"`,
	})
	missing := scripted.Refusing(t,
		&pgproto3.ErrorResponse{Severity: "FATAL", Code: "3D000", Message: `database "app" does not exist`})
	unknown := scripted.Refusing(t, &pgproto3.ErrorResponse{
		Severity: "FATAL", Code: "42704", Message: `unrecognized configuration parameter "colour"`,
	})
	nobody := scripted.Refusing(t,
		&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28000", Message: `role "owner" does not exist`})
	other := scripted.Refusing(t)
	web := saying(t, "HTTP/1.1 400 Bad Request\r\n\r\n")
	for address, want := range map[string]struct{ cause, advice string }{
		wrong:   {`password authentication failed for user "owner" (SQLSTATE 28P01)`, "The password is wrong"},
		missing: {`database "app" does not exist (SQLSTATE 3D000)`, "create the database"},
		nobody:  {`role "owner" does not exist (SQLSTATE 28000)`, "Check the user"},
		unknown: {`unrecognized configuration parameter "colour" (SQLSTATE 42704)`, "Leave out"},
		other:   {"the server closed the connection", "Is that PostgreSQL?"},
		web: {
			"what answers there does not speak PostgreSQL's protocol", "Is the port that of PostgreSQL?",
		},
		"127.0.0.1:1": {"connection refused", "Is PostgreSQL running there?"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := pgx.Connect(ctx, "postgres://owner:s3cret@"+address+"/app?sslmode=disable")
		cancel()
		err = connect.Explain(err)
		if says := "cannot connect to " + address + `/app as "owner": ` + want.cause; err == nil ||
			err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
		if got := fault.HintOf(err); !strings.Contains(got, want.advice) {
			t.Errorf("%s: the hint is %q, want %q", want.cause, got, want.advice)
		}
	}
	if err := errors.New("something else"); connect.Explain(err) != err {
		t.Error("an error of another kind has changed")
	}
}

func TestAMissingPasswordAndAnUnknownHostAreNamed(t *testing.T) {
	t.Setenv("PGPASSWORD", "")
	t.Setenv("PGPASSFILE", "/nowhere")
	asks := scripted.Refusing(t, &pgproto3.ErrorResponse{
		Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "owner"`,
	})
	for host, want := range map[string]struct{ cause, advice string }{
		asks:           {"no password was given: password authentication failed", "Give the password in PGPASSWORD"},
		"nohost:1":     {"the host name nohost is not known", "Check the host in the URL"},
		"speechless:1": {"the name service has no answer for host speechless: i/o timeout", "the name service of this"},
	} {
		config, err := pgx.ParseConfig("postgres://owner@" + host + "/app?sslmode=disable")
		if err != nil {
			t.Fatal(err)
		}
		config.LookupFunc = func(_ context.Context, name string) ([]string, error) {
			switch name {
			case "nohost":
				return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
			case "speechless":
				return nil, &net.DNSError{Err: "i/o timeout", Name: name, IsTimeout: true}
			}
			return []string{name}, nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err = pgx.ConnectConfig(ctx, config)
		cancel()
		if err = connect.Explain(err); err == nil || !strings.Contains(err.Error(), want.cause) ||
			!strings.Contains(fault.HintOf(err), want.advice) {
			t.Errorf("%s: %v, hint %q; want %s and %q", host, err, fault.HintOf(err), want.cause, want.advice)
		}
	}
}

// saying is the address of a server that reads eight bytes, answers with text, and waits until the client leaves.
func saying(t *testing.T, text string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.ReadFull(conn, make([]byte, 8))
		_, _ = conn.Write([]byte(text))
		_, _ = io.Copy(io.Discard, conn)
	}()
	return listener.Addr().String()
}

func TestWhereTLSIsRequiredAndOffItSaysWhereToTurnItOn(t *testing.T) {
	address := saying(t, "N")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := pgx.Connect(ctx, "postgres://owner@"+address+"/app?sslmode=require")
	err = connect.Explain(err)
	if err == nil || !strings.Contains(err.Error(), "server refused TLS connection") ||
		!strings.Contains(fault.HintOf(err), "TLS turned off") {
		t.Errorf("%v, hint %q", err, fault.HintOf(err))
	}
}

func TestWhatHoldsNoPasswordIsShown(t *testing.T) {
	for _, text := range []string{
		`"sideways" is no command of "pgflurry"`,
		"--database is missing: give the URL of the database, " + connect.Form,
		`cannot connect to 10.0.0.1:5432/app as "ann@corp": no answer in time`,
		"--window is 10ms; expected 1s to 24h0m0s",
	} {
		if got := connect.Masked(text); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
	for value, is := range map[string]bool{
		"postgres://h/db": true, "owner:s3cret@h/db": true, "host=h password=s3cret": true,
		"ann@corp": false, "passports": false, "a:b": false,
	} {
		if connect.LooksLikeOne(value) != is {
			t.Errorf("%s looks like a connection string: %v, expected %v", value, !is, is)
		}
	}
	if d := 10 * time.Millisecond; connect.Shown(d.String()) != `"10ms"` {
		t.Error(connect.Shown(d.String()))
	}
}

func TestAServerThatSaysNothingAndAnAddressWithoutOneHaveDifferentHints(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	config, err := pgconn.ParseConfig("postgres://u@" + silent.Addr().String() + "/d")
	if err != nil {
		t.Fatal(err)
	}
	hint := func() string {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := pgconn.ConnectConfig(ctx, config)
		return fault.HintOf(connect.Explain(err))
	}
	if said := hint(); !strings.Contains(said, "accepts connections there and says nothing") {
		t.Errorf("the hint is %q", said)
	}
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: ctx.Err()}
	}
	if said := hint(); !strings.Contains(said, "Nobody accepts the connection") {
		t.Errorf("the hint is %q", said)
	}
}
