package session

import (
	"net/url"
	"regexp"
	"strings"
)

// given is a connection string as the operator gave it, without a password, for the commands that an error prints. nil
// if it is no URL.
type given struct{ *url.URL }

func givenAs(text string) given {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" {
		return given{}
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	values := u.Query()
	values.Del("password")
	values.Del("sslpassword")
	u.RawQuery = spelled(values)
	return given{u}
}

// InCommands replaces the URL of the commands in a text with that of the operator, without a password. Text that is no
// URL stays a placeholder, because it may hold one.
func InCommands(text, url string) string {
	return strings.ReplaceAll(text, "--database URL", "--database "+givenAs(url).Or("URL"))
}

// At returns that of a database at an address, host:port/name.
func (g given) At(address string) given {
	host, name, found := strings.Cut(address, "/")
	if g.URL == nil || !found {
		return given{}
	}
	return g.with(host, name, "host", "hostaddr", "port", "dbname", "database")
}

// Beside returns that of another database of the same server.
func (g given) Beside(name string) given {
	if g.URL == nil {
		return g
	}
	return g.with(g.Host, name, "dbname", "database")
}

// with returns it with another host and name, without the parameters that would win over them.
func (g given) with(host, name string, parameters ...string) given {
	other, values := *g.URL, g.Query()
	for _, parameter := range parameters {
		values.Del(parameter)
	}
	other.Host, other.Path, other.RawPath, other.RawQuery = host, "/"+name, "", spelled(values)
	return given{&other}
}

func spelled(values url.Values) string { return strings.ReplaceAll(values.Encode(), "%2F", "/") }

// plain is a text that a shell takes as it is.
var plain = regexp.MustCompile(`^[\w:/@.%=+,-]+$`)

// Or returns it, in quotes if a shell needs them, or a placeholder.
func (g given) Or(placeholder string) string {
	if g.URL == nil {
		return placeholder
	}
	if text := g.String(); !plain.MatchString(text) {
		return "'" + strings.ReplaceAll(text, "'", "%27") + "'"
	}
	return g.String()
}
