package idserver

import (
	"crypto/tls"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgflurry/internal/account"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/authority"
)

func TestTheRightPasswordLetsInAndIsGreetedAsPostgreSQLDoes(t *testing.T) {
	h := newHall(t)
	v := h.knocks("ann")
	v.enters(password)
	if h.known.Load() != 1 {
		t.Errorf("loggedIn was called %d times", h.known.Load())
	}
	if all := h.server.Sessions(); len(all) != 1 || all[0].User != "ann" || all[0].State != "idle" ||
		!all[0].Since.Equal(noon) || all[0].Client != v.conn.LocalAddr().String() {
		t.Errorf("sessions: %+v", all)
	}
	v.leaves()
	h.empties()
	h.counts("ok", 1)
	if st := h.server.Stats(); st.Sessions() != 0 || st.Opened != 1 || st.Closed["client"] != 1 ||
		st.LoginsIn.Count() != 1 {
		t.Errorf("stats: %+v", st)
	}
}

func TestAClientThatGivesWayAtTheMomentOfItsLoginIsToldSo(t *testing.T) {
	h := newHall(t)
	h.goes.Store(true)
	v := h.knocks("ann")
	v.proves(password)
	v.asked(wire.AuthSASLFinal)
	v.refused("53300", "too many connections to the proxy that have not logged in")
	h.empties()
}

// masked replaces nonces, salts and names, which have to differ. All names have the same length.
func masked(heard []byte, name string) string {
	text := regexp.MustCompile(`r=[^,]*`).ReplaceAllStringFunc(string(heard), func(r string) string {
		return strings.Repeat("r", len(r))
	})
	text = regexp.MustCompile(`s=[^,]*`).ReplaceAllStringFunc(text, func(s string) string {
		return strings.Repeat("s", len(s))
	})
	return strings.ReplaceAll(text, `"`+name+`"`, "NAME")
}

func TestInvariant6UnknownExpiredAndKnownNamesDifferInNoByteAndStep(t *testing.T) {
	begun := func(behind string) func(*client) {
		return func(v *client) { v.begins(); v.send(passwordMessage([]byte(behind))) }
	}
	first := func(mechanism, message string) func(*client) {
		return func(v *client) { v.send(initial(mechanism, message)) }
	}
	bytes := func(b ...byte) func(*client) { return func(v *client) { v.send(b) } }
	for means, behaves := range map[string]func(v *client){
		"a wrong password":        func(v *client) { v.proves("wrong") },
		"another mechanism":       first("SCRAM-SHA-1", "n,,n=,r=abc"),
		"binding without TLS":     first(scram.Plain, "p=tls-server-end-point,,n=,r=abc"),
		"a malformed message":     first(scram.Plain, "n,,x=,r=abc"),
		"a message of its own":    bytes('Q', 0, 0, 0, 5, 0),
		"Terminate":               bytes('X', 0, 0, 0, 4),
		"too long a message":      bytes('p', 0, 0, 4, 5),
		"an impossible length":    bytes('p', 0, 0, 0, 3),
		"another nonce":           begun("c=biws,r=abcdef,p=AAAA"),
		"an extension at the end": begun("c=biws,r=abc,m=x,p=AAAA"),
		"a second first message":  begun("SCRAM-SHA-256\x00\x00\x00\x00\x0bn,,n=,r=abc"),
	} {
		h := newHall(t)
		heard := make(map[string][]string)
		for _, name := range []string{"ann", "old", "crt", "nob"} {
			v := h.knocks(name)
			behaves(v)
			v.fatal()
			all := masked(v.heard, name)
			heard[all] = append(heard[all], name)
		}
		if len(heard) != 1 {
			t.Errorf("%s: names are told apart: %q", means, heard)
		}
		if h.known.Load() != 0 {
			t.Errorf("%s: it is known who they are", means)
		}
	}
}

// begins sends the first message of an exchange, and reads its answer.
func (v *client) begins() (answer string) {
	v.t.Helper()
	v.send(initial(scram.Plain, "n,,n=,r=abc"))
	v.asked(wire.AuthSASL)
	return string(v.asked(wire.AuthSASLContinue))
}

func TestAWrongPasswordIsRefusedInPostgreSQLsWordsAndTheLogHasTheCause(t *testing.T) {
	h := newHall(t)
	for name, cause := range map[string]string{
		"ann": "the password is wrong", "old": "has expired at 2026-11-22T11:59:59Z",
		"crt": "has no verifier", "nobody": "there is no such account",
	} {
		v := h.knocks(name)
		v.proves("Wr0ngly")
		m := v.refused("28P01", `password authentication failed for user "`+name+`"`)
		if m.Detail != "" || m.Hint != "" {
			t.Errorf("%s: it says more: %+v", name, m)
		}
		h.logged(cause)
	}
	h.empties()
	h.counts("password", 4)
	if strings.Contains(h.log.String(), "Wr0ngly") {
		t.Errorf("the log has the password:\n%s", h.log.String())
	}
}

func TestTheRightPasswordOfAnAccountThatHasExpiredIsWrong(t *testing.T) {
	h := newHall(t)
	v := h.knocks("old")
	v.proves(password)
	v.refused("28P01", "password authentication failed")
}

func TestOverTLSTheLoginIsBoundToTheCertificate(t *testing.T) {
	h := newHall(t)
	ca := h.secured(false)
	v := h.comes(&tls.Config{RootCAs: ca.Pool(), ServerName: "127.0.0.1"})
	v.send(hello(3<<16, "user", "ann", "database", "ids"))
	v.enters(password)
	if !strings.Contains(string(v.heard), "SCRAM-SHA-256-PLUS\x00SCRAM-SHA-256\x00\x00") {
		t.Errorf("the server offered %q", v.heard)
	}
	v.leaves()
	// If a client believes that the server cannot bind, somebody is in between.
	v = h.comes(&tls.Config{RootCAs: ca.Pool(), ServerName: "127.0.0.1"})
	v.send(hello(3<<16, "user", "ann", "database", "ids"))
	v.asked(wire.AuthSASL)
	v.send(initial(scram.Plain, "y,,n=,r=abc"))
	m := v.refused("28000", "SCRAM channel binding negotiation error")
	if !strings.Contains(m.Detail, "this server does support channel binding") {
		t.Errorf("detail %q", m.Detail)
	}
}

func TestACertificateLetsInWhomItNamesAndNobodyElse(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.Method = Certificate })
	ca := h.secured(true)
	comes := func(leaf authority.Leaf, user string) *client {
		v := h.comes(&tls.Config{
			RootCAs: ca.Pool(), ServerName: "127.0.0.1", Certificates: []tls.Certificate{ca.Issue(t, leaf).TLS},
		})
		v.send(hello(3<<16, "user", user, "database", "ids"))
		return v
	}
	for name, c := range map[string]struct {
		leaf authority.Leaf
		user string
	}{
		"its common name":                {authority.Leaf{CommonName: "ann"}, "ann"},
		"an alternative name":            {authority.Leaf{CommonName: "x", Hosts: []string{"y", "ann"}}, "ann"},
		"an account without a verifier":  {authority.Leaf{CommonName: "crt"}, "crt"},
		"a name with capitals elsewhere": {authority.Leaf{CommonName: "ANN", Hosts: []string{"ann"}}, "ann"},
	} {
		v := comes(c.leaf, c.user)
		v.isIn()
		v.leaves()
		t.Logf("%s: in", name)
	}
	before := h.known.Load()
	for name, c := range map[string]struct {
		leaf        authority.Leaf
		user, cause string
	}{
		"another name":           {authority.Leaf{CommonName: "bob"}, "ann", "its certificate names"},
		"one name at two places": {authority.Leaf{CommonName: "eve", Hosts: []string{"eve"}}, "ann", `[\"eve\"]`},
		"two common names":       {authority.Leaf{CommonName: "ann", More: []string{"bob"}}, "ann", "several common"},
		"the same, in order":     {authority.Leaf{CommonName: "bob", More: []string{"ann"}}, "ann", "several common"},
		"no name":                {authority.Leaf{}, "ann", "its certificate names"},
		"a name in other case":   {authority.Leaf{CommonName: "ANN"}, "ann", "its certificate names"},
		"a pattern":              {authority.Leaf{CommonName: "*"}, "ann", "its certificate names"},
		"a zero byte behind it":  {authority.Leaf{CommonName: "ann\x00.evil"}, "ann", "its certificate names"},
		"an account that is old": {authority.Leaf{CommonName: "old"}, "old", "has expired"},
		"no account":             {authority.Leaf{CommonName: "nobody"}, "nobody", "there is no such account"},
	} {
		v := comes(c.leaf, c.user)
		v.refused("28000", `certificate authentication failed for user "`+c.user+`"`)
		h.logged(c.cause)
		t.Logf("%s: refused", name)
	}
	if h.known.Load() != before {
		t.Error("it is known who somebody is that was refused")
	}
}

func TestWithoutACertificateNobodyLogsInByOne(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.Method = Certificate })
	h.knocks("ann").refused("28000", "connection requires a valid client certificate")
	ca := h.secured(false)
	v := h.comes(&tls.Config{RootCAs: ca.Pool(), ServerName: "127.0.0.1"})
	v.send(hello(3<<16, "user", "ann", "database", "ids"))
	v.refused("28000", "connection requires a valid client certificate")
}

func TestTrustBelievesANameAndNeedsNoAccounts(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.Method, s.Accounts = Trust, nil })
	v := h.knocks("whoever")
	v.isIn()
	if h.known.Load() != 1 {
		t.Error("it is not known who it is")
	}
	v.leaves()
}

// Such names would appear in SHOW SESSIONS, where terminals and drivers of others read them.
func TestTrustTakesNoNameThatNoAccountCanHave(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.Method, s.Accounts = Trust, nil })
	h.knocks("\x1b[2J").refused("28000", "invalid user name: the name has a control character")
	h.knocks("\xff").refused("28000", "invalid user name: the name is not UTF-8")
	if st := h.server.Stats(); st.Logins["refused"] != 2 {
		t.Errorf("logins: %v", st.Logins)
	}
}

func TestNobodyLogsInBeforeTheAccountsWereReadOrWhenTheyAreTooOld(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.MaxAge = time.Hour })
	before := h.accounts.Load()
	h.clock.Store(int64(time.Hour))
	v := h.knocks("ann")
	v.enters(password)
	v.leaves()
	h.clock.Store(int64(time.Hour + 90*time.Second))
	m := h.knocks("ann").refused("57P03", "was last read 1h1m30s ago; logins stop after 1h0m0s")
	if !strings.Contains(m.Hint, "--id-auth-max-age") {
		t.Errorf("hint %q", m.Hint)
	}
	h.accounts.Store(nil)
	h.knocks("ann").refused("57P03", "has not read yet who may log in")
	h.accounts.Store(account.NewList(nil, nil, h.server.now()))
	for range 100 { // far more than wrong passwords may be tried
		h.knocks("ann").refused("57P03", "nobody is listed who may log in to the ID database")
	}
	h.empties()
	h.counts("unready", 102)
	h.accounts.Store(before)
	h.clock.Store(int64(time.Hour))
	v = h.knocks("ann")
	v.enters(password)
	v.leaves()
}

func TestTheLimitOfSessionsHoldsForThoseWhoHaveLoggedIn(t *testing.T) {
	h := newHall(t, func(s *Settings) { s.MaxSessions = 2 })
	knocking := h.knocks("ann") // it has no slot
	knocking.asked(wire.AuthSASL)
	one, two := h.knocks("ann"), h.knocks("ann")
	one.enters(password)
	two.enters(password)
	third := h.knocks("ann")
	third.proves(password)
	third.asked(wire.AuthSASLFinal)
	third.refused("53300", "too many sessions of the ID database")
	if st := h.server.Stats(); !st.Full || st.Limit != 2 || st.Sessions() != 2 || st.Open["login"] != 1 {
		t.Errorf("stats: %+v", st)
	}
	one.leaves()
	third = h.knocks("ann")
	third.enters(password)
	third.leaves()
	two.leaves()
	unlimited := h.server.settings.Rules
	unlimited.MaxSessions = 0
	if err := h.server.Change(unlimited); err != nil {
		t.Fatal(err)
	}
	if st := h.server.Stats(); st.Full || st.Limit != 0 {
		t.Errorf("stats: %+v", st)
	}
}

func TestTheLimitOfAnAccountIsPostgreSQLsAndOnePlaceIsGivenBackOnce(t *testing.T) {
	h := newHall(t)
	for range 3 {
		first := h.knocks("bob")
		first.enters(password)
		second := h.knocks("bob")
		second.proves(password)
		second.refused("53300", `too many connections for role "bob"`)
		other := h.knocks("ann")
		other.enters(password)
		other.leaves()
		first.leaves()
		h.empties()
	}
	h.server.nothingIsLeft(t, nil)
	h.counts("limit", 3)
}

func TestNamesOfACertificate(t *testing.T) {
	ca := authority.New(t, "ca")
	leaf := ca.Issue(t, authority.Leaf{CommonName: "cn", Hosts: []string{"dns"}}).TLS.Leaf
	leaf.EmailAddresses = []string{"a@b"}
	leaf.URIs = []*url.URL{{Scheme: "spiffe", Host: "h", Path: "/s"}}
	if got := strings.Join(namesOf(leaf), " "); got != "a@b cn dns spiffe://h/s" {
		t.Errorf("names %q", got)
	}
}

func TestALoginThatLastsTooLongGetsAnError(t *testing.T) {
	h := newHall(t)
	h.patience = 10 * time.Millisecond
	h.knocks("ann").refused("08006", "not established within the login timeout")
	h.empties()
	h.counts("left", 1)
}

// dated is a connection that knows its deadline.
type dated struct {
	net.Conn
	until *atomic.Pointer[time.Time]
}

func (d dated) SetDeadline(t time.Time) error { d.until.Store(&t); return d.Conn.SetDeadline(t) }

func TestTheDeadlineOfTheLoginDoesNotEndTheSession(t *testing.T) {
	h := newHall(t)
	var until atomic.Pointer[time.Time]
	h.wrap = func(conn net.Conn) net.Conn { return dated{conn, &until} }
	v := h.knocks("ann")
	v.asked(wire.AuthSASL)
	if until.Load().IsZero() {
		t.Error("a login has no deadline")
	}
	v = h.knocks("ann")
	v.enters(password)
	v.send([]byte{'S', 0, 0, 0, 4})
	v.next() // the session runs
	if !until.Load().IsZero() {
		t.Errorf("a session has the deadline %v", until.Load())
	}
}

func TestAnAccountThatIsReplacedWhileItsClientLogsInIsThatOfTheBeginning(t *testing.T) {
	h := newHall(t)
	v := h.knocks("ann")
	client, err := scram.NewClient(v.asked(wire.AuthSASL), password, nil)
	if err != nil {
		t.Fatal(err)
	}
	h.accounts.Store(account.NewList(nil, []byte("secret"), noon))
	first, _ := client.Step("")
	v.send(initial(client.Mechanism(), first))
	final, err := client.Step(string(v.asked(wire.AuthSASLContinue)))
	if err != nil {
		t.Fatal(err)
	}
	v.send(passwordMessage([]byte(final)))
	v.asked(wire.AuthSASLFinal)
	v.isIn()
	v.leaves()
}
