package account

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"pgflurry/proxy/scram"
)

// List is who may log in, as it was read at one time. It does not change.
type List struct {
	read       time.Time
	accounts   map[string]Account
	secret     []byte // of mocks
	iterations int    // of mocks: those that most accounts have
}

// NewList makes a list of accounts with different names. secret is that of mocks, which it takes over. read is when
// they were read, by the clock of whoever asks for that later.
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

// String says how large it is and how old, and no secret: for logs.
func (l *List) String() string {
	return fmt.Sprintf("%d clients, read at %v", len(l.accounts), l.read.UTC().Format(time.RFC3339))
}

// GoString is String.
func (l *List) GoString() string { return l.String() }

// Read is when it was read.
func (l *List) Read() time.Time { return l.read }

// Len is the number of accounts, also of those whose time is over.
func (l *List) Len() int { return len(l.accounts) }

// All are the accounts by their names.
func (l *List) All() []Account {
	all := make([]Account, 0, len(l.accounts))
	for _, name := range slices.Sorted(maps.Keys(l.accounts)) {
		all = append(all, l.accounts[name])
	}
	return all
}

// Find finds an account by its name. Whether it may log in, its method MayLogIn says.
func (l *List) Find(name string) (Account, bool) {
	a, found := l.accounts[name]
	return a, found
}

// Challenge is the verifier that a client of this name has to satisfy: its own, or a mock where it may not log in with
// a password. Both take the same time.
func (l *List) Challenge(name string, now time.Time) scram.Verifier {
	mock := l.Mock(name)
	if a := l.accounts[name]; !a.Verifier.IsZero() && a.MayLogIn(now) {
		return a.Verifier
	}
	return mock
}

// Mock is the verifier of a name that may not log in with a password.
func (l *List) Mock(name string) scram.Verifier { return scram.Mock(l.secret, name, l.iterations) }

// Same says that both lists have the same accounts, whenever they were read.
func (l *List) Same(other *List) bool {
	return maps.EqualFunc(l.accounts, other.accounts, func(a, b Account) bool {
		return a.Verifier.Text() == b.Verifier.Text() && a.ValidUntil.Equal(b.ValidUntil) &&
			a.ConnectionLimit == b.ConnectionLimit
	})
}
