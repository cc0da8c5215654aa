package account

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgflurry/proxy/scram"
)

// List is the accounts as they were read at one time. It does not change.
type List struct {
	read       time.Time
	accounts   map[string]Account
	secret     []byte // of mocks
	iterations int    // of mocks: the number that most accounts have
}

// NewList makes a list of accounts with different names. secret is the one of the mocks; the list keeps the slice. read
// is when they were read, by the caller's clock.
func NewList(accounts []Account, secret []byte, read time.Time) *List {
	l := &List{read: read, accounts: make(map[string]Account, len(accounts)), secret: secret}
	count := make(map[int]int)
	for _, a := range accounts {
		l.accounts[a.Name] = a
		if !a.Verifier.IsZero() {
			count[a.Verifier.Iterations()]++
		}
	}
	l.iterations = scram.DefaultIterations
	for iterations, n := range count {
		most := count[l.iterations]
		if n > most || n == most && iterations < l.iterations {
			l.iterations = iterations
		}
	}
	return l
}

// String returns the size and the age of the list, and no secret: for logs.
func (l *List) String() string {
	return fmt.Sprintf("%d clients, read at %v", len(l.accounts), l.read.UTC().Format(time.RFC3339))
}

// GoString returns String.
func (l *List) GoString() string { return l.String() }

// Read returns when the list was read.
func (l *List) Read() time.Time { return l.read }

// Len returns the number of accounts, including expired ones.
func (l *List) Len() int { return len(l.accounts) }

// All returns the accounts, sorted by name.
func (l *List) All() []Account {
	all := make([]Account, 0, len(l.accounts))
	for _, name := range slices.Sorted(maps.Keys(l.accounts)) {
		all = append(all, l.accounts[name])
	}
	return all
}

// Find finds an account by its name. Account.MayLogIn says whether it may log in.
func (l *List) Find(name string) (Account, bool) {
	a, found := l.accounts[name]
	return a, found
}

// Challenge returns the verifier for a client of this name: its own, or a mock if it may not log in with a password.
// Both take the same time.
func (l *List) Challenge(name string, now time.Time) scram.Verifier {
	mock := l.Mock(name)
	if a := l.accounts[name]; !a.Verifier.IsZero() && a.MayLogIn(now) {
		return a.Verifier
	}
	return mock
}

// Mock returns the verifier of a name that may not log in with a password.
func (l *List) Mock(name string) scram.Verifier { return scram.Mock(l.secret, name, l.iterations) }

// Same reports whether both lists have the same accounts. It ignores when they were read.
func (l *List) Same(other *List) bool {
	return maps.EqualFunc(l.accounts, other.accounts, func(a, b Account) bool {
		return a.Verifier.Text() == b.Verifier.Text() && a.ValidUntil.Equal(b.ValidUntil) &&
			a.ConnectionLimit == b.ConnectionLimit
	})
}
