package account

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pgflurry/proxy/scram"
)

// maxName is the longest name, in bytes: that of a role in PostgreSQL.
const maxName = 63

// NoLimit is the ConnectionLimit of an account that may have any number of sessions.
const NoLimit = -1

// Account is one client that may log in.
type Account struct {
	Name            string         // as in the startup packet, 1 to 63 bytes
	Verifier        scram.Verifier // of its password; zero: it logs in only with a certificate
	ValidUntil      time.Time      // the last instant at which it may log in; zero: for ever
	ConnectionLimit int            // sessions at once on one proxy; NoLimit, or any other negative number: any
	Created         time.Time      // zero: not known, as in a file
	Changed         time.Time      // last; zero: not known
}

// MayLogIn reports whether the account has not expired.
func (a Account) MayLogIn(now time.Time) bool {
	return a.ValidUntil.IsZero() || !now.After(a.ValidUntil)
}

// Allows reports whether the account may have one more session if it has so many.
func (a Account) Allows(sessions int) bool {
	return a.ConnectionLimit < 0 || sessions < a.ConnectionLimit
}

// CheckName returns an error if no account can have the name. The table refuses the same names.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty; expected 1 to 63 bytes")
	case len(name) > maxName:
		return fmt.Errorf("the name has %d bytes; expected at most %d", len(name), maxName)
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("the name has a control character")
	}
	return nil
}
