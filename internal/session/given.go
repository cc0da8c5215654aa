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
	u.RawQuery = strings.ReplaceAll(values.Encode(), "%2F", "/")
	return given{u}
}

// At returns that of a database at an address, host:port/name, or on the same server if there is only a name.
func (g given) At(address string) given {
	if g.URL == nil {
		return g
	}
	other := *g.URL
	host, name, found := strings.Cut(address, "/")
	if !found {
		host, name = g.Host, address
	}
	other.Host, other.Path = host, "/"+name
	return given{&other}
}

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
