// Package connstring knows the connection strings that people give.
//
//	parse.go      reads one, and says what is wrong with it
//	secret.go     keeps their passwords out of every message, wherever people put them
//	failure.go    says in a sentence why a connection failed
//
// No message of it holds a part of what may be a password.
package connstring

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgflurry/hint"
	"pgflurry/outcome"
)

// Form is what people write.
const Form = "postgres://user@host:port/name"

// parameterName is what a setting that is passed on to PostgreSQL may be called.
var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.$]*$`)

// Parse reads a connection string that came with --flag. Its errors never hold a part of it: where it cannot be read,
// nobody can say which part is the password.
func Parse(flag, url string) (*pgx.ConnConfig, error) {
	if url == "" {
		return nil, outcome.As(outcome.Usage,
			fmt.Errorf("--%s is missing: give the URL of the database, %s", flag, Form))
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
		return nil, outcome.As(outcome.Usage, hint.With(
			fmt.Errorf("--%s is not a connection string: %s", flag, reason),
			"Expected "+Form+". Keep a password in PGPASSWORD, or write its special characters as %XX."))
	}
	return config, nil
}

// unreadable is why a connection string cannot be read. What pgx quotes from inside it is left out if a password may be
// in there.
func unreadable(url string, err error) string {
	reason, detail := err.Error(), ""
	if inner := errors.Unwrap(err); inner != nil {
		detail = " (" + inner.Error() + ")"
		reason = strings.TrimSuffix(reason, detail)
	}
	reason = reason[strings.LastIndex(reason, "`: ")+len("`: "):]
	_, behind, _ := strings.Cut(url, "://")
	if MayHoldPassword(behind) || strings.Contains(behind, ":") || behind == "" {
		return reason
	}
	return reason + detail
}

// passwordLeftOver says that a URL has an @ in its path or fragment. A / or # in the password, which is not written as
// %XX, ends the host for whoever reads it. The rest of the password would be the name of the database.
func passwordLeftOver(url string) bool {
	_, rest, isURL := strings.Cut(url, "://")
	path, _, _ := strings.Cut(rest, "?")
	_, path, _ = strings.Cut(path, "/")
	_, fragment, _ := strings.Cut(rest, "#")
	return isURL && strings.Contains(path+fragment, "@")
}
