package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// urlForm is what people write.
const urlForm = "postgres://user@host:port/name"

// parameterName is what a setting that is passed on to PostgreSQL may be called.
var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.$]*$`)

// parseURL reads a connection string that came with --flag. Its errors never hold a part of it: where it cannot be read, nobody can
// say which part is the password.
func parseURL(flag, url string) (*pgx.ConnConfig, error) {
	if url == "" {
		return nil, fmt.Errorf("--%s is missing: give the URL of the database, %s", flag, urlForm)
	}
	config, err := pgx.ParseConfig(url)
	reason := ""
	switch {
	case err != nil:
		reason = unreadable(url, err)
	case passwordLeftOver(url):
		reason = "an @ stands behind the host"
	default:
		for name := range config.RuntimeParams {
			if !parameterName.MatchString(name) {
				reason = "one of its keywords is none"
			}
		}
	}
	if reason != "" {
		return nil, hint(fmt.Errorf("--%s is not a connection string: %s", flag, reason),
			"Expected "+urlForm+". Keep a password in PGPASSWORD, or write its special characters as %XX.")
	}
	return config, nil
}

// unreadable is why a connection string cannot be read. What pgx quotes from inside it is left out if a password may be in there.
func unreadable(url string, err error) string {
	reason, detail := err.Error(), ""
	if inner := errors.Unwrap(err); inner != nil {
		detail = " (" + inner.Error() + ")"
		reason = strings.TrimSuffix(reason, detail)
	}
	reason = reason[strings.LastIndex(reason, "`: ")+len("`: "):]
	_, behind, _ := strings.Cut(url, "://")
	if mayHoldPassword(behind) || strings.Contains(behind, ":") || behind == "" {
		return reason
	}
	return reason + detail
}

// passwordLeftOver says that a URL has an @ in its path or fragment. A / or # in the password, which is not written as %XX, ends the
// host for whoever reads it: the rest of the password would be the name of the database.
func passwordLeftOver(url string) bool {
	_, rest, isURL := strings.Cut(url, "://")
	path, _, _ := strings.Cut(rest, "?")
	_, path, _ = strings.Cut(path, "/")
	_, fragment, _ := strings.Cut(rest, "#")
	return isURL && strings.Contains(path+fragment, "@")
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
		if said.Code == "42704" || said.Code == "08P01" { // an unknown parameter, as PostgreSQL and PgBouncer say it
			text = withoutParameters(text, failed.Config.RuntimeParams)
		}
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

// withoutParameters leaves the names of parameters out of what a server says. A password with a space, not in quotes, makes its second
// word one.
func withoutParameters(text string, params map[string]string) string {
	for name := range params {
		text = strings.ReplaceAll(text, name, "…")
	}
	return text
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
