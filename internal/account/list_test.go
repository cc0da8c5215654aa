package account

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/internal/connect"
	"pgflurry/proxy/scram"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// verifier makes the verifier of a password.
func verifier(t testing.TB, password string, iterations int) scram.Verifier {
	t.Helper()
	v, err := scram.NewVerifier(password, iterations)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAnAccountMayLogInToTheLastInstantOfItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		until time.Time
		want  bool
	}{
		"for ever":         {time.Time{}, true},
		"later":            {now.Add(1), true},
		"the last instant": {now, true},
		"over":             {now.Add(-1), false},
	} {
		if got := (Account{ValidUntil: c.until}).MayLogIn(now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestALimitOfSessionsIsKept(t *testing.T) {
	for _, c := range []struct {
		limit, sessions int
		want            bool
	}{{NoLimit, 1 << 20, true}, {0, 0, false}, {2, 1, true}, {2, 2, false}} {
		if got := (Account{ConnectionLimit: c.limit}).Allows(c.sessions); got != c.want {
			t.Errorf("limit %d, %d sessions: one more is allowed: %v", c.limit, c.sessions, got)
		}
	}
}

func TestAccountInvariant2WhoeverMayNotLogInWithAPasswordGetsTheMock(t *testing.T) {
	v := verifier(t, "right", 2)
	l := NewList([]Account{
		{Name: "valid", Verifier: v, ConnectionLimit: NoLimit},
		{Name: "expired", Verifier: v, ValidUntil: now.Add(-1)},
		{Name: "certificate"},
	}, []byte("secret"), now)
	if got := l.Challenge("valid", now); got.Text() != v.Text() {
		t.Errorf("a valid account is challenged with %v", got)
	}
	for _, name := range []string{"expired", "certificate", "unknown", ""} {
		if got := l.Challenge(name, now); got.Text() != l.Mock(name).Text() || got.Iterations() != 2 {
			t.Errorf("%q is challenged with %v", name, got)
		}
	}
	if a, found := l.Find("expired"); !found || a.MayLogIn(now) || l.Len() != 3 || !l.Read().Equal(now) {
		t.Errorf("the expired account: %v, %v; %d accounts, read at %v", a, found, l.Len(), l.Read())
	}
	if _, found := l.Find("unknown"); found {
		t.Error("somebody unknown is found")
	}
}

func TestAccountInvariant3TheMockDependsOnSecretAndNameAlone(t *testing.T) {
	one := NewList([]Account{{Name: "a"}}, []byte("secret"), now)
	two := NewList([]Account{{Name: "b"}}, []byte("secret"), now.Add(time.Hour))
	other := NewList([]Account{{Name: "a"}}, []byte("another"), now)
	if one.Mock("x").Text() != two.Mock("x").Text() {
		t.Error("two lists with one secret have different mocks of a name")
	}
	if one.Mock("x").Text() == other.Mock("x").Text() || one.Mock("x").Text() == one.Mock("y").Text() {
		t.Error("another secret, or another name, has the same mock")
	}
}

func TestAMockHasTheIterationsThatMostAccountsHave(t *testing.T) {
	for _, c := range []struct {
		iterations []int
		want       int
	}{
		{nil, scram.DefaultIterations},
		{[]int{7}, 7},
		{[]int{7, 3, 7}, 7},
		{[]int{7, 3}, 3}, // in any order
		{[]int{scram.DefaultIterations, 9, 9, scram.DefaultIterations, 9}, 9},
	} {
		var accounts []Account
		for i, n := range c.iterations {
			accounts = append(accounts, Account{Name: strings.Repeat("n", i+1), Verifier: verifier(t, "x", n)})
		}
		for range 10 {
			if got := NewList(accounts, nil, now).Mock("x").Iterations(); got != c.want {
				t.Fatalf("of accounts with %d iterations a mock has %d; expected %d", c.iterations, got, c.want)
			}
			slices.Reverse(accounts)
		}
	}
}

func TestAccountInvariant1AListDoesNotChange(t *testing.T) {
	accounts := []Account{{Name: "a", Verifier: verifier(t, "right", 1)}}
	l := NewList(accounts, []byte("secret"), now)
	want, mock := l.Challenge("a", now).Text(), l.Mock("b").Text()
	accounts[0] = Account{Name: "b", Verifier: verifier(t, "wrong", 1)}
	l.All()[0].Name = "c"
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				if l.Challenge("a", now).Text() != want || l.Challenge("b", now).Text() != mock || l.Len() != 1 {
					t.Error("it has changed")
				}
			}
		})
	}
	group.Wait()
}

func TestAccountInvariant5NoLogRepeatsASecretOfAList(t *testing.T) {
	v := verifier(t, "right", 1)
	f := &File{connect.NewFile("/etc/userlist.txt", maxFile), []byte("sesame")}
	l := NewList([]Account{{Name: "a", Verifier: v}}, []byte("sesame"), now)
	var out bytes.Buffer
	fmt.Fprintf(&out, "%v %+v %#v %s\n%v %+v %#v %s\n%v %+v %#v\n", l, l, l, l, f, f, f, f, l.All(), l.All(), l.All())
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("text", "list", l, "file", f, "account", l.All()[0])
	slog.New(slog.NewJSONHandler(&out, nil)).Info("json", "list", l, "file", f, "account", l.All()[0])
	if !strings.Contains(out.String(), "1 clients, read at 2026-11-22T12:00:00Z") {
		t.Errorf("a list is logged as\n%s", out.String())
	}
	for _, secret := range []string{
		"sesame", fmt.Sprint([]byte("sesame")), fmt.Sprintf("%#v", []byte("sesame")), v.Text()[20:40], "StoredKey",
	} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%q is in\n%s", secret, out.String())
		}
	}
}

func TestListsAreTheSameWhoseAccountsAre(t *testing.T) {
	a := Account{Name: "a", Verifier: verifier(t, "right", 1), ConnectionLimit: NoLimit}
	list := func(change func(*Account)) *List {
		b := a
		change(&b)
		return NewList([]Account{b}, []byte("secret"), now)
	}
	same := list(func(*Account) {})
	if !same.Same(NewList([]Account{a}, nil, now.Add(1))) || same.Same(NewList(nil, nil, now)) {
		t.Error("a list is not the same as itself, or as an empty one")
	}
	for what, change := range map[string]func(*Account){
		"name":     func(a *Account) { a.Name = "b" },
		"verifier": func(a *Account) { a.Verifier = scram.Verifier{} },
		"time":     func(a *Account) { a.ValidUntil = now },
		"limit":    func(a *Account) { a.ConnectionLimit = 1 },
	} {
		if same.Same(list(change)) {
			t.Errorf("a list with another %s is the same", what)
		}
	}
}
