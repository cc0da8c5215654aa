package transparency

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/server"
)

// greeting says the bytes and returns the messages up to ReadyForQuery or the end, without the key, which is each session's own.
func greeting(t *testing.T, address string, first []byte) []string {
	t.Helper()
	r := dial(t, address)
	r.say(first)
	var all []string
	for {
		kind, body, err := r.frame()
		if err != nil {
			return append(all, err.Error())
		}
		if kind == 'K' {
			body = bytes.Repeat([]byte{'.'}, len(body))
		}
		all = append(all, string(kind)+string(body))
		if kind == 'Z' {
			return all
		}
	}
}

func TestNegotiationOfTheProtocolIsPostgreSQLs(t *testing.T) {
	server.NoLeak(t)
	direct := server.Database(t)
	at, _ := through(t, direct)
	d, p := server.Parse(t, direct), server.Parse(t, at)
	user := []string{"user", "postgres", "database", d.Path[1:], "application_name", "negotiator"}
	with := func(more ...string) []string { return append(slices.Clone(user), more...) }
	for name, first := range map[string][]byte{
		"3.0":                            hello(version30, user...),
		"3.2":                            hello(version30+2, user...),
		"3.1, which never was":           hello(version30+1, user...),
		"a minor version of the future":  hello(version30+9999, user...),
		"the last minor version":         hello(version30+0xffff, user...),
		"an unknown option":              hello(version30, with("_pq_.unknown", "1")...),
		"unknown options and a version":  hello(version30+9999, with("_pq_.one", "", "_pq_.two", strings.Repeat("x", 3000))...),
		"an option as the first":         hello(version30, append([]string{"_pq_.first", "x"}, user...)...),
		"a startup parameter that fails": hello(version30, with("no_such_parameter", "1")...),
		"a database that is not there":   hello(version30, "user", "postgres", "database", "nowhere"),
		"no user":                        hello(version30, "database", "postgres"),
	} {
		want, got := greeting(t, d.Host, first), greeting(t, p.Host, first)
		if !slices.Equal(want, got) {
			t.Errorf("%s: PostgreSQL says\n%q\nand through the proxy\n%q", name, want, got)
		}
	}
}

func TestAStartupPacketMayComeByteByByteAndBeAsLongAsPostgreSQLAllows(t *testing.T) {
	server.NoLeak(t)
	direct := server.Database(t)
	at, _ := through(t, direct)
	d, p := server.Parse(t, direct), server.Parse(t, at)
	user := []string{"user", "postgres", "database", d.Path[1:], "_pq_.filler"}
	short := len(hello(version30, append(user, "")...))
	for _, size := range []int{200, 9_999, 10_000, 10_001, 10_004, 10_005, 10_006, 70_000} {
		first := hello(version30, append(user, strings.Repeat("x", size-short))...)
		want, got := greeting(t, d.Host, first), greeting(t, p.Host, first)
		if size > 10_004 && len(want) == 1 && !slices.ContainsFunc(got, func(m string) bool { return m[0] == 'R' }) {
			continue // PostgreSQL closes without a word where the proxy says why
		}
		if !slices.Equal(want, got) {
			t.Errorf("a startup packet of %d bytes: PostgreSQL says\n%.200q\nand through the proxy\n%.200q", size, want, got)
		}
	}
	r := dial(t, p.Host)
	for _, b := range hello(version30, append(user, "")...) {
		r.say([]byte{b})
	}
	r.until('Z')
}

func TestEncryptionRequestsAreRefusedInAnyOrder(t *testing.T) {
	server.NoLeak(t)
	at, _ := through(t, server.Database(t))
	u := server.Parse(t, at)
	ssl, gss := []byte{0, 0, 0, 8, 4, 210, 22, 47}, []byte{0, 0, 0, 8, 4, 210, 22, 48}
	for name, requests := range map[string][][]byte{"GSSENC": {gss}, "SSL": {ssl}, "GSSENC, then SSL": {gss, ssl}, "SSL, then GSSENC": {ssl, gss}} {
		r := dial(t, u.Host)
		for _, request := range requests {
			r.say(request)
			var answer [1]byte
			if _, err := io.ReadFull(r.in, answer[:]); err != nil || answer[0] != 'N' {
				t.Fatalf("%s: answered %q, %v; expected N", name, answer, err)
			}
		}
		r.say(hello(version30, "user", "postgres", "database", u.Path[1:]))
		r.until('Z')
		r.say(query(ours))
		if got := r.until('Z'); len(got) != 4 || got[0][0] != 'T' {
			t.Errorf("%s: a session that began with it is answered %q", name, got)
		}
		r.conn.Close()
	}
}

// What cannot be relayed, because nobody knows where it ends, the proxy refuses in its own words.
func TestABrokenFrameEndsTheSessionAsInPostgreSQLButInTheProxysWords(t *testing.T) {
	direct := server.Database(t)
	at, _ := through(t, direct)
	d, p := server.Parse(t, direct), server.Parse(t, at)
	session := hello(version30, "user", "postgres", "database", d.Path[1:])
	for name, c := range map[string]struct {
		first, then []byte
		theirs      string // SQLSTATE of PostgreSQL's FATAL; without one it only hangs up
	}{
		"a first packet too short":         {first: []byte{0, 0, 0, 4, 0, 3, 0, 0}},
		"a first packet too long":          {first: []byte{0, 1, 0, 0, 0, 3, 0, 0}},
		"a startup packet without its end": {first: []byte{0, 0, 0, 13, 0, 3, 0, 0, 'u', 's', 'e', 'r', 0}, theirs: "08P01"},
		"a message too short":              {first: session, then: []byte{'Q', 0, 0, 0, 3}},
		"a message too long":               {first: session, then: []byte{'Q', 0x7f, 0xff, 0xff, 0xff}},
		"a message of a negative length":   {first: session, then: []byte{'Q', 0x80, 0, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			last := func(address string) string {
				r := dial(t, address)
				r.say(c.first)
				if c.then != nil {
					r.until('Z')
					r.say(c.then)
				}
				return strings.Join(r.rest(), "|")
			}
			if want := last(d.Host); (c.theirs == "") != (want == "") || !strings.Contains(want, c.theirs) {
				t.Errorf("PostgreSQL says %q; expected %q", want, c.theirs)
			}
			if got, code := last(p.Host), cmp.Or(c.theirs, "08P01"); strings.Count(got, "VFATAL") != 1 || !strings.Contains(got, "C"+code) || !strings.Contains(got, "\x00H") {
				t.Errorf("the proxy says %q; expected one FATAL %s with a hint", got, code)
			}
		})
	}
}
