package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// advice is the hint of an error.
func advice(err error) string {
	var hinted hintedError
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}

func TestAURLThatCannotBeReadIsNeverRepeated(t *testing.T) {
	for url, reason := range map[string]string{
		"postgres://owner:s3cret@localhost:port/app":        "invalid port",
		"postgres://owner:s3/cret@localhost/app":            "invalid port",
		"postgres://owner:s3cret%zz@localhost/app":          "failed to parse as URL",
		"owner:s3cret@localhost/app":                        "failed to parse as keyword/value",
		"host=localhost port=x password=s3cret":             "invalid port",
		"host=localhost password='s3cret":                   "failed to parse as keyword/value",
		"postgres://local host/app":                         `failed to parse as URL (unexpected spaces found in "local host", use percent-encoded spaces (%20) instead)`,
		"postgres://owner:s3cret@localhost/app?sslmode=odd": "failed to configure TLS",
	} {
		_, err := parseURL("database", url)
		if err == nil || err.Error() != "--database is not a connection string: "+reason {
			t.Errorf("%s: %v, want %s", url, err, reason)
			continue
		}
		if all := err.Error() + advice(err); strings.Contains(all, "s3") || strings.Contains(all, "cret@") || !strings.Contains(all, urlForm) {
			t.Errorf("%s: %s", url, all)
		}
	}
	if _, err := parseURL("join", ""); err == nil || !strings.Contains(err.Error(), "--join is missing") {
		t.Errorf("no URL: %v", err)
	}
}

// refusing is a server without TLS that answers every session with these messages, and its address.
func refusing(t *testing.T, messages ...pgproto3.BackendMessage) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			backend := pgproto3.NewBackend(conn, conn)
			for {
				message, err := backend.ReceiveStartupMessage()
				if err != nil {
					break
				}
				if _, is := message.(*pgproto3.SSLRequest); is {
					_, _ = conn.Write([]byte("N"))
					continue
				}
				for _, m := range messages {
					backend.Send(m)
				}
				_ = backend.Flush()
				break
			}
			conn.Close()
		}
	}()
	return ln.Addr().String()
}

func TestAConnectionThatFailsSaysItsLastCauseOnceAndWhatToDo(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	wrong := refusing(t, &pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "owner"`})
	missing := refusing(t, &pgproto3.ErrorResponse{Severity: "FATAL", Code: "3D000", Message: `database "app" does not exist`})
	other := refusing(t)
	for address, want := range map[string]struct{ cause, advice string }{
		wrong:                  {`password authentication failed for user "owner" (SQLSTATE 28P01)`, "PGPASSWORD"},
		missing:                {`database "app" does not exist (SQLSTATE 3D000)`, ""},
		other:                  {"the server closed the connection", "Is that PostgreSQL?"},
		closed.Addr().String(): {"connection refused", "Is PostgreSQL running there?"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := pgx.Connect(ctx, "postgres://owner:s3cret@"+address+"/app")
		cancel()
		err = connectError(err)
		if says := "cannot connect to " + address + `/app as "owner": ` + want.cause; err == nil || err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
		if got := advice(err); !strings.Contains(got, want.advice) || want.advice == "" && got != "" {
			t.Errorf("%s: the hint is %q, want %q", want.cause, got, want.advice)
		}
	}
	if err := errors.New("something else"); connectError(err) != err {
		t.Error("an error of another kind has changed")
	}
}
