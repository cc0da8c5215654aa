package connect

import (
	"net/url"
	"regexp"
	"strings"
)

// SameButPassword says whether two valid connection strings differ in their passwords at most. If in doubt it says no.
func SameButPassword(a, b string) bool {
	restOfA, ok := withoutPassword(a)
	restOfB, okToo := withoutPassword(b)
	return ok && okToo && restOfA == restOfB
}

// keywordPassword matches a password among keywords and values, with or without quotes.
var keywordPassword = regexp.MustCompile(`(^|\s)password\s*=\s*('(?:\\.|[^'\\])*'|(?:\\.|[^\s\\])*)`)

// withoutPassword is everything else in a connection string. Use it to compare, never to show.
func withoutPassword(text string) (rest string, ok bool) {
	if !strings.Contains(text, "://") {
		return keywordPassword.ReplaceAllString(text, "$1"), true
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	query.Del("password")
	u.RawQuery = query.Encode()
	return u.String(), true
}
