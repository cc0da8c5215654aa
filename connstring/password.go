package connstring

import (
	"net/url"
	"regexp"
	"strings"
)

// SameButPassword says whether two connection strings that can be read differ in their passwords at most. In doubt they
// do not.
func SameButPassword(a, b string) bool {
	restOfA, ok := withoutPassword(a)
	restOfB, okToo := withoutPassword(b)
	return ok && okToo && restOfA == restOfB
}

// keywordPassword is a password among keywords and values, in quotes or not.
var keywordPassword = regexp.MustCompile(`(^|\s)password\s*=\s*('(?:\\.|[^'\\])*'|(?:\\.|[^\s\\])*)`)

// withoutPassword is all else that a connection string says. It is for comparing, and is shown to nobody.
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
