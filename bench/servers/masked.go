package servers

import (
	"net/url"
	"regexp"
	"strings"
)

// mask replaces a password in results.
const mask = "xxxxx"

var keywordPassword = regexp.MustCompile(`(?i)(password\s*=\s*)('(?:[^'\\]|\\.)*'|(?:[^\s\\]|\\.)*)`)

// maskedURL hides the passwords in a URL, or in PostgreSQL's keywords and values.
func maskedURL(target string) string {
	if !strings.Contains(target, "://") {
		return keywordPassword.ReplaceAllString(target, "${1}"+mask)
	}
	u, err := url.Parse(target)
	if err != nil {
		return mask
	}
	q := u.Query()
	for name := range q {
		if strings.Contains(strings.ToLower(name), "password") {
			q.Set(name, mask)
			u.RawQuery = q.Encode()
		}
	}
	return u.Redacted()
}
