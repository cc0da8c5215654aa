package command

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/account"
	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// told runs pgflurry with a text on standard input.
func told(t testing.TB, input string, args ...string) ended {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program.Path(t), args...)
	cmd.Stdin = strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return ended{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// clients returns the arguments of "pgflurry clients" for a database.
func clients(url string, line ...string) []string {
	return append(append([]string{"clients"}, line...), "--database", url)
}

// prints checks what a command that succeeded has printed.
func (e ended) prints(t testing.TB, texts ...string) {
	t.Helper()
	e.is(t, 0)
	for _, text := range texts {
		if !strings.Contains(e.out, text) {
			t.Errorf("it prints\n%s%s\nexpected %q", e.out, e.errs, text)
		}
	}
}

// found reads a client from the table.
func found(t *testing.T, url, name string) account.Account {
	t.Helper()
	list, err := account.Read(server.Within(t), server.Connect(t, url), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	a, is := list.Find(name)
	if !is {
		t.Fatalf("there is no client %q", name)
	}
	return a
}

func TestAClientIsAddedListedExpiredAndRemoved(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	run(t, clients(url, "list")...).prints(t, "no client may log in", "pgflurry clients add")
	told(t, "sesame\n", clients(url, "add", "shop", "--connection-limit", "5", "--valid-until",
		"2040-01-31T18:00:00+01:00")...).
		prints(t, `client "shop" is added: it logs in with its password until 2040-01-31T17:00:00.000Z, and may have `+
			"at most 5 sessions at once on each proxy\n")
	run(t, clients(url, "add", "robot", "--certificate-only")...).
		prints(t, `client "robot" is added: it logs in with a certificate for ever, and may have any number of `+
			"sessions\n")
	run(t, clients(url, "list")...).prints(t, "NAME", "shop   password     valid  2040-01-31T17:00:00.000Z  5  ",
		"robot  certificate  valid  -  ")
	run(t, clients(url, "expire", "shop", "--at", "24h")...).prints(t, `client "shop" may log in until 2`)
	run(t, clients(url, "expire", "shop")...).prints(t, `client "shop" may log in no more, since `)
	run(t, clients(url, "list")...).prints(t, "shop   password     expired")
	run(t, clients(url, "expire", "shop", "--at", "never")...).prints(t, `client "shop" may log in for ever`)
	run(t, clients(url, "remove", "shop")...).prints(t, `client "shop" is removed; proxies end its sessions`)
	for _, verb := range []string{"remove", "expire"} {
		run(t, clients(url, verb, "shop")...).is(t, 2, `there is no client "shop"`, "clients list")
	}
}

// listed is the JSON that "clients list --json" promises.
type listed struct {
	Name, Login, State string
	Iterations         *int
	ValidUntil         *time.Time `json:"valid_until"`
	Limit              *int       `json:"connection_limit"`
	Created            time.Time  `json:"created_at"`
	Changed            time.Time  `json:"changed_at"`
}

func TestAListOfClientsForProgramsHasEveryKeyAndNoSecret(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	if empty := read[[]listed](t, run(t, clients(url, "list", "--json")...)); len(empty) != 0 {
		t.Errorf("nobody is listed as %+v", empty)
	}
	told(t, "sesame", clients(url, "add", "shop", "--connection-limit", "0", "--valid-until", "1h")...).is(t, 0)
	run(t, clients(url, "add", "robot", "--certificate-only")...).is(t, 0)
	run(t, clients(url, "expire", "robot")...).is(t, 0)
	e := run(t, clients(url, "list", "--json")...)
	all := read[[]listed](t, e)
	if len(all) != 2 || all[0].Name != "robot" || all[0].Login != "certificate" || all[0].State != "expired" ||
		all[0].Iterations != nil || all[0].Limit != nil || all[0].ValidUntil == nil ||
		!all[0].Changed.After(all[0].Created) || all[1].Name != "shop" || all[1].Login != "password" ||
		all[1].State != "valid" || *all[1].Iterations != 4096 || *all[1].Limit != 0 || all[1].ValidUntil == nil {
		t.Errorf("they are listed as %+v", all)
	}
	verifier := found(t, url, "shop").Verifier.Text()
	for _, piece := range strings.FieldsFunc(verifier, func(r rune) bool { return r == '$' || r == ':' })[2:] {
		if strings.Contains(e.out, piece) {
			t.Errorf("a piece of the verifier is listed:\n%s", e.out)
		}
	}
}

func TestAClientThatIsThereIsChangedOnlyWhenThatIsSaid(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	told(t, "sesame\n", clients(url, "add", "shop", "--connection-limit", "5")...).is(t, 0)
	before := found(t, url, "shop")
	told(t, "another\n", clients(url, "add", "shop")...).is(t, 1, `there is a client "shop" already`, "add --replace")
	run(t, clients(url, "add", "shop", "--certificate-only")...).is(t, 1, "already", "add --replace")
	if after := found(t, url, "shop"); after.Verifier.Text() != before.Verifier.Text() {
		t.Error("a refused one has changed the password")
	}
	told(t, "another\n", clients(url, "add", "shop", "--replace")...).
		prints(t, `client "shop" is changed`, "at most 5 sessions")
	if after := found(t, url, "shop"); after.Verifier.Text() == before.Verifier.Text() || after.ConnectionLimit != 5 {
		t.Errorf("changed to %+v", after)
	}
	told(t, "x\n", clients(url, "add", "new", "--replace")...).prints(t, `client "new" is added`)
}

func TestAVerifierOfPostgreSQLIsTakenAndNothingElseInItsPlace(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "SET password_encryption = 'scram-sha-256'; CREATE ROLE pasted LOGIN PASSWORD 'sesame'")
	t.Cleanup(func() { server.Exec(t, url, "DROP ROLE pasted") })
	text := server.Value[string](t, conn, "SELECT rolpassword FROM pg_authid WHERE rolname = 'pasted'")
	told(t, text+"\n", clients(url, "add", "pasted", "--verifier-stdin")...).prints(t, "is added")
	if found(t, url, "pasted").Verifier.Text() != text {
		t.Error("another verifier is kept")
	}
	told(t, text, clients(url, "add", "a")...).is(t, 2, "given as a password is a verifier", "--verifier-stdin")
	for input, says := range map[string]string{
		"sesame\n":                          "may be a password in clear text",
		"md5" + strings.Repeat("5", 32):     "md5 hash",
		text[:len(text)-2] + "\n":           "malformed server key",
		"":                                  "no verifier was given",
		"\n" + text:                         "no verifier was given",
		text + "\n" + text + "\n":           "more than one line",
		strings.Repeat("long", 2000) + "\n": "longer than 4096 bytes",
	} {
		e := told(t, input, clients(url, "add", "a", "--verifier-stdin")...)
		e.is(t, 2, says)
		if strings.Contains(e.errs, "sesame") || strings.Contains(e.errs, "555") ||
			strings.Contains(e.errs, text[40:60]) {
			t.Errorf("it repeats what it was given:\n%s", e.errs)
		}
	}
	if n := server.Value[int](t, conn, "SELECT count(*) FROM pgflurry.client"); n != 1 {
		t.Errorf("%d clients are there", n)
	}
}

func TestWhatNobodyCanBeCalledOrGivenIsRefused(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	for _, c := range []struct {
		line []string
		says string
	}{
		{[]string{"add", ""}, "the name is empty"},
		{[]string{"add", strings.Repeat("n", 64)}, "64 bytes; expected at most 63"},
		{[]string{"add", "a\tb"}, "control character"},
		{[]string{"add", "a"}, "no password was given"},
		{[]string{"add", "a", "--connection-limit", "-2"}, "--connection-limit is -2; expected -1 or more"},
		{[]string{"add", "a", "--valid-until", "tomorrow"}, "--valid-until is no instant"},
		{[]string{"add", "a", "--valid-until", "-1h"}, "expected a time ahead"},
		{[]string{"expire", "a", "--at", "yesterday"}, "--at is no instant"},
	} {
		run(t, clients(url, c.line...)...).is(t, 2, c.says)
	}
	joined := server.Database(t)
	run(t, "namespace", "join", "--database", joined, "--home", url).is(t, 0)
	run(t, clients(joined, "list")...).is(t, 2, "has no clients that proxies know", "give the URL of that database")
	server.Exec(t, url, "DROP TABLE pgflurry.client")
	run(t, clients(url, "list")...).is(t, 3, "has no table pgflurry.client", "pgflurry migrate up")
}

func TestTheRoleOfALeaseListsClientsAndChangesNone(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	as := server.Role(t, url, "lists_clients")
	run(t, clients(as, "list")...).is(t, 1, "may not", "grant_lease('lists_clients')")
	server.Exec(t, url, "CALL pgflurry.grant_lease('lists_clients')")
	run(t, clients(as, "list")...).is(t, 0)
	for _, line := range [][]string{{"add", "a", "--certificate-only"}, {"remove", "a"}, {"expire", "a"}} {
		run(t, clients(as, line...)...).is(t, 1, "permission denied", "as the owner of schema pgflurry")
	}
}
