package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// urlForm is what people write.
const urlForm = "postgres://user@host:port/name"

// shown is a value as a message may quote it: people put connection strings where something else is expected.
func shown(value string) string {
	lower := strings.ToLower(value)
	if strings.Contains(value, "@") || strings.Contains(value, "://") || strings.Contains(lower, "pass") || strings.Contains(lower, "pwd") {
		return "a value that may hold a password (not repeated here)"
	}
	return strconv.Quote(value)
}

// parseURL reads a connection string that came with --flag. Its errors never hold a part of it: where it cannot be read, nobody can
// say which part is the password.
func parseURL(flag, url string) (*pgx.ConnConfig, error) {
	if url == "" {
		return nil, fmt.Errorf("--%s is missing: give the URL of the database, %s", flag, urlForm)
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, hint(fmt.Errorf("--%s is not a connection string: %s", flag, unreadable(url, err)),
			"Expected "+urlForm+". Keep a password in PGPASSWORD, or write its special characters as %XX.")
	}
	return config, nil
}

// unreadable is why a connection string cannot be read. What pgx quotes from inside it is left out if a password may be in there.
func unreadable(url string, err error) string {
	said := err.Error()
	reason := said[strings.LastIndex(said, "`: ")+len("`: "):]
	if strings.Contains(url, "@") || strings.Contains(strings.ToLower(url), "pass") {
		reason, _, _ = strings.Cut(reason, " (")
	}
	return reason
}

// connectError puts what pgx says about a connection that failed, which is every attempt in its own words, into one sentence with the
// last cause, and what to do. Any other error stays as it is.
func connectError(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return err
	}
	_, address := pgconn.NetworkAddress(failed.Config.Host, failed.Config.Port)
	cause := lastCause(failed)
	text, advice := cause.Error(), ""
	var said *pgconn.PgError
	switch {
	case errors.As(cause, &said):
		text, advice = fmt.Sprintf("%s (SQLSTATE %s)", said.Message, said.Code), said.Hint
		if said.Code == "28P01" { // the server asked for a password, and this was not it
			advice = "Give the password in PGPASSWORD, in ~/.pgpass or in the URL."
		}
	case errors.Is(cause, context.DeadlineExceeded), errors.Is(cause, os.ErrDeadlineExceeded):
		text = "no answer in time"
	case errors.Is(cause, io.EOF), errors.Is(cause, io.ErrUnexpectedEOF):
		text, advice = "the server closed the connection", "Is that PostgreSQL?"
	case errors.Is(cause, syscall.ECONNREFUSED), errors.Is(cause, syscall.ENOENT):
		advice = "Is PostgreSQL running there? Expected " + urlForm + "."
	}
	return hint(fmt.Errorf("cannot connect to %s/%s as %q: %s", address, failed.Config.Database, failed.Config.User, text), advice)
}

// lastCause is the innermost error of the last attempt. Where TLS is preferred, the first one mostly says that there is none.
func lastCause(err error) error {
	for {
		switch err.(type) {
		case *pgconn.PgError, *net.DNSError:
			return err
		}
		var inner error
		switch wrapping := err.(type) {
		case interface{ Unwrap() []error }:
			list := wrapping.Unwrap()
			inner = list[len(list)-1]
		case interface{ Unwrap() error }:
			inner = wrapping.Unwrap()
		}
		if inner == nil {
			return err
		}
		err = inner
	}
}
