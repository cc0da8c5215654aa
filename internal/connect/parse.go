package connect

import (
	"errors"
	"fmt"
	neturl "net/url"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
)

// Form is the example in messages.
const Form = "postgres://user@host:port/name"

// parameterName matches the names of settings that go to PostgreSQL.
var parameterName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.$]*$`)

// Parse parses a connection string from --flag. Its errors never repeat a part of it: if parsing fails, any part may be
// the password.
func Parse(flag, url string) (*pgx.ConnConfig, error) { return parse("--"+flag, url) }

// ParseArgument is Parse for a string without a flag. what names it, such as "URL 2".
func ParseArgument(what, url string) (*pgx.ConnConfig, error) { return parse(what, url) }

func parse(what, url string) (*pgx.ConnConfig, error) {
	if url == "" {
		return nil, fault.WithKind(fault.Usage,
			fmt.Errorf("%s is missing: give the URL of the database, %s", what, Form))
	}
	if err := checkFiles(url); err != nil {
		return nil, fault.WithKind(fault.Usage, fmt.Errorf("%s: %w", what, err))
	}
	config, err := pgx.ParseConfig(url)
	reason := ""
	switch {
	case spaced(url):
		reason = "the password, or what else stands before the @, has a space that is not written as %20"
	case unescaped(url):
		reason = "the password, or what else stands before the @, has a /, ? or # that is not written as %XX"
	case err != nil:
		reason = unreadable(url, err)
	default:
		if err := foreign(what, config); err != nil {
			return nil, fault.WithKind(fault.Usage, err)
		}
		for name := range config.RuntimeParams {
			if !parameterName.MatchString(name) {
				reason = "one of its keywords is none"
			}
		}
	}
	if reason != "" {
		return nil, fault.WithKind(fault.Usage, fault.WithHint(
			fmt.Errorf("%s is not a connection string: %s", what, reason),
			"Expected "+Form+". Keep a password in PGPASSWORD, or write its special characters as %XX: "+
				"/ is %2F, ? is %3F, # is %23, @ is %40, : is %3A, % is %25, a space is %20."))
	}
	return config, nil
}

// unreadable says why parsing has failed. It drops pgx's quotes if a password may be in them.
func unreadable(url string, err error) string {
	if _, bad := neturl.PathUnescape(url); bad != nil && strings.Contains(url, "://") {
		return "a % in it does not stand before two hexadecimal digits"
	}
	reason, detail := err.Error(), ""
	if inner := errors.Unwrap(err); inner != nil {
		detail = " (" + inner.Error() + ")"
		reason = strings.TrimSuffix(reason, detail)
	}
	reason = reason[strings.LastIndex(reason, "`: ")+len("`: "):]
	if reason == "failed to parse as keyword/value" {
		return "it is neither a URL that begins with postgres://, nor a list such as host=localhost dbname=app"
	}
	_, behind, _ := strings.Cut(url, "://")
	if MayHoldPassword(behind) || strings.Contains(behind, ":") || behind == "" {
		return reason
	}
	return reason + detail
}

// spaced says that a URL has a space between its scheme and its last @.
func spaced(url string) bool {
	_, rest, isURL := strings.Cut(url, "://")
	return isURL && strings.Contains(rest[:max(strings.LastIndex(rest, "@"), 0)], " ")
}

// unescaped says that a URL has an @ after its host. A /, ? or # in the password ends the host unless it is written as
// %XX. The rest of the password then looks like the name of the database or a parameter. An @ in the value of a
// parameter does not count.
func unescaped(url string) bool {
	_, rest, isURL := strings.Cut(url, "://")
	end := strings.IndexAny(rest, "/?#")
	if !isURL || end < 0 {
		return false
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	_, fragment, _ := strings.Cut(rest, "#")
	name, _, _ := strings.Cut(query, "=")
	return strings.Contains(path+fragment+name, "@")
}
