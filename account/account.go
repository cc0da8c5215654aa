package account

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pgflurry/proxy/scram"
)

// maxName is how long a name may be, in bytes: as long as that of a role of PostgreSQL.
const maxName = 63

// NoLimit is the ConnectionLimit of an account that may have any number of sessions.
const NoLimit = -1

// Account is one client that may log in.
type Account struct {
	Name            string         // as the startup packet has it, 1 to 63 bytes
	Verifier        scram.Verifier // of its password; zero: it logs in with a certificate alone
	ValidUntil      time.Time      // the last instant at which it may log in; zero: for ever
	ConnectionLimit int            // sessions at once on one proxy; NoLimit, or any other negative number: any
	Created         time.Time      // zero: not known, as in a file
	Changed         time.Time      // last; zero: not known
}

// MayLogIn says whether its time is not over.
func (a Account) MayLogIn(now time.Time) bool {
	return a.ValidUntil.IsZero() || !now.After(a.ValidUntil)
}

// Allows says whether it may have one more session than so many.
func (a Account) Allows(sessions int) bool {
	return a.ConnectionLimit < 0 || sessions < a.ConnectionLimit
}

// CheckName is an error where nobody can have the name. The table refuses the same.
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
