package connect

import (
	"regexp"
	"strconv"
	"strings"
)

// People put connection strings in wrong places: after --upstream, or as an argument without a flag. So our messages
// never quote such a value, and Masked hides what a library quotes.

// MayHoldPassword says whether a value looks like a connection string or a part of one.
func MayHoldPassword(value string) bool {
	lower := strings.ToLower(value)
	return strings.Contains(value, "@") || strings.Contains(value, "://") || strings.Contains(lower, "pass") ||
		strings.Contains(lower, "pwd")
}

// LooksLikeOne says whether a value has the form of a connection string: a URL, keywords, or a URL without its scheme.
// Unlike MayHoldPassword it accepts names with an @ or a "pass" in them.
func LooksLikeOne(value string) bool {
	return strings.Contains(value, "://") || strings.Contains(value, "password=") ||
		strings.Contains(value, ":") && strings.Contains(value, "@")
}

// NotRepeated replaces a value that may hold a password.
const NotRepeated = "a value that may hold a password and is not repeated here"

// Shown is a value as messages may quote it.
func Shown(value string) string {
	if MayHoldPassword(value) {
		return NotRepeated
	}
	return strconv.Quote(value)
}

var (
	// credentials matches everything before the last @ of a line in a URL, with or without a scheme.
	credentials = regexp.MustCompile(`(://).*@|([^\s"'=:/]+:)[^\s"']*@`)
	// hostless matches what follows the scheme if there is no @.
	hostless = regexp.MustCompile(`://[^\s"'@]*`)
	// passwordKeyword matches a password among keywords and values, and everything after it: its end is unknown.
	passwordKeyword = regexp.MustCompile(`(?i)((?:password|passwd|pwd)\s*=).*`)
)

// Masked hides what may be a password in a message. Our own example of a URL stays.
func Masked(message string) string {
	parts := strings.Split(message, Form)
	for i, part := range parts {
		if !strings.Contains(part, "@") {
			part = hostless.ReplaceAllString(part, "://…")
		}
		part = credentials.ReplaceAllString(part, "$1$2…@")
		parts[i] = passwordKeyword.ReplaceAllString(part, "$1…")
	}
	return strings.Join(parts, Form)
}
