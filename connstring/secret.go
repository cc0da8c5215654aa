package connstring

import (
	"regexp"
	"strconv"
	"strings"
)

// People put connection strings where something else is expected: behind --upstream, or as an argument without a flag.
// What is wrong there is quoted by none of our messages, and whatever a library quotes is masked before it is printed.

// MayHoldPassword says whether a value looks like a connection string or a part of one.
func MayHoldPassword(value string) bool {
	lower := strings.ToLower(value)
	return strings.Contains(value, "@") || strings.Contains(value, "://") || strings.Contains(lower, "pass") ||
		strings.Contains(lower, "pwd")
}

// LooksLikeOne says whether a value has the form of a connection string: a URL, keywords, or what is left of a URL
// without its scheme. Unlike MayHoldPassword it lets through a name with an @ or a "pass" in it.
func LooksLikeOne(value string) bool {
	return strings.Contains(value, "://") || strings.Contains(value, "password=") ||
		strings.Contains(value, ":") && strings.Contains(value, "@")
}

// NotRepeated stands for a value that may hold a password.
const NotRepeated = "a value that may hold a password and is not repeated here"

// Shown is a value as a message may quote it.
func Shown(value string) string {
	if MayHoldPassword(value) {
		return NotRepeated
	}
	return strconv.Quote(value)
}

var (
	// credentials are what stands before the last @ of a line in a URL, or in one without a scheme.
	credentials = regexp.MustCompile(`(://).*@|([^\s"'=:/]+:)[^\s"']*@`)
	// hostless is what follows the scheme where there is no @.
	hostless = regexp.MustCompile(`://[^\s"'@]*`)
	// passwordKeyword is a password in keywords and values, and all behind it: nobody can say where it ends.
	passwordKeyword = regexp.MustCompile(`(?i)((?:password|passwd|pwd)\s*=).*`)
)

// Masked is a message without what may be a password in it. Our own example of a URL stays.
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
