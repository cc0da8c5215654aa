package relay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/tests/support/packet"
	"pgflurry/tests/support/scripted"
	"pgflurry/tests/support/server"
)

// greeting sends the bytes. It returns the messages up to ReadyForQuery or the end, without the key, because each
// session has another.
func greeting(t *testing.T, address string, first []byte) []string {
	t.Helper()
	r := dial(t, address)
	r.say(first)
	var all []string
	for {
		kind, body, err := r.frame()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
			return append(all, "the end")
		case err != nil:
			t.Fatal(err)
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
		"3.0":                           hello(version30, user...),
		"3.2":                           hello(version30+2, user...),
		"3.1, which never was":          hello(version30+1, user...),
		"a minor version of the future": hello(version30+9999, user...),
		"the last minor version":        hello(version30+0xffff, user...),
		"an unknown option":             hello(version30, with("_pq_.unknown", "1")...),
		"unknown options and a version": hello(version30+9999,
			with("_pq_.one", "", "_pq_.two", strings.Repeat("x", 3000))...),
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

// PostgreSQL 19 warns at login, of MD5 and of passwords that expire soon. The script warns at each place.
func TestWarningsOfALoginAreRelayedInTheirPlace(t *testing.T) {
	server.NoLeak(t)
	warning := &pgproto3.NoticeResponse{
		Severity: "WARNING", SeverityUnlocalized: "WARNING", Code: "01000", Message: "role password will expire soon",
	}
	direct := scripted.Refusing(t, warning,
		&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 2, UnrecognizedOptions: []string{"_pq_.test"}},
		&pgproto3.AuthenticationOk{}, warning, &pgproto3.ParameterStatus{Name: "server_version", Value: "19.0"},
		&pgproto3.BackendKeyData{ProcessID: 1, SecretKey: []byte{1, 2, 3, 4}}, warning, warning,
		&pgproto3.ReadyForQuery{TxStatus: 'I'})
	at, _ := inFront(t, direct)
	first := hello(version30, "user", "ann", "_pq_.test", "1")
	want, got := greeting(t, direct, first), greeting(t, at, first)
	if !slices.Equal(want, got) || len(got) != 9 {
		t.Errorf("the server says\n%q\nand through the proxy\n%q", want, got)
	}
}

func TestALoginWithAPasswordThatExpiresSoonSaysTheSameThroughTheProxy(t *testing.T) {
	direct := server.Database(t)
	soon := server.Value[string](t, server.Connect(t, direct), "SELECT (now() + interval '1 hour')::text")
	for _, method := range []string{"scram", "md5", "password"} {
		role, encryption := "expires_"+method, "scram-sha-256"
		if method == "md5" {
			encryption = method
		}
		server.Exec(t, direct, fmt.Sprintf("SET password_encryption = '%s'; CREATE ROLE %s LOGIN PASSWORD 'right' "+
			"VALID UNTIL '%s' IN ROLE login_%s", encryption, role, soon, method))
		t.Cleanup(func() { server.Exec(t, direct, "DROP ROLE "+role) })
		at, _ := through(t, direct)
		want, got := warnings(t, server.As(t, direct, role, "right")), warnings(t, server.As(t, at, role, "right"))
		if !slices.Equal(want, got) {
			t.Errorf("%s: PostgreSQL warns %q, and through the proxy %q", method, want, got)
		}
	}
}

// warnings logs in, and returns what the server says besides.
func warnings(t *testing.T, url string) (said []string) {
	t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said = append(said, n.Code+" "+n.Message) }
	conn, err := pgconn.ConnectConfig(server.Within(t), config)
	if err != nil {
		t.Fatal(err)
	}
	// They may come up to ReadyForQuery.
	if err := conn.Exec(server.Within(t), "SELECT").Close(); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(server.Within(t)); err != nil {
		t.Fatal(err)
	}
	return said
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
		if !slices.Equal(want, got) {
			t.Errorf("a startup packet of %d bytes: PostgreSQL says\n%.200q\nand through the proxy\n%.200q",
				size, want, got)
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
	ssl, gss := sslRequest, gssEncRequest
	for name, requests := range map[string][][]byte{
		"GSSENC": {gss}, "SSL": {ssl}, "GSSENC, then SSL": {gss, ssl}, "SSL, then GSSENC": {ssl, gss},
	} {
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

// verbatim sends all parts. It waits for one byte of answer before each next part. It returns every byte until the
// other side closes.
func verbatim(t *testing.T, address string, parts ...[]byte) string {
	t.Helper()
	r := dial(t, address)
	var all []byte
	for i, part := range parts {
		if i > 0 {
			answer, err := r.in.ReadByte()
			if err != nil {
				t.Fatalf("no answer to %q: %v", parts[i-1], err)
			}
			all = append(all, answer)
		}
		r.say(part)
	}
	rest, err := io.ReadAll(r.in)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Fatalf("after %q the connection is not closed: %v", parts, err)
	}
	return string(append(all, rest...))
}

var (
	sslRequest    = []byte{0, 0, 0, 8, 4, 210, 22, 47}
	gssEncRequest = []byte{0, 0, 0, 8, 4, 210, 22, 48}
)

func TestAFirstPacketThatPostgreSQLRefusesIsRefusedByTheSameBytes(t *testing.T) {
	server.NoLeak(t)
	direct := server.Database(t)
	at, p := through(t, direct)
	d, u := server.Parse(t, direct), server.Parse(t, at)
	const cancel = 80877102
	silent := map[string][]byte{
		"a message in place of a packet": append([]byte{'X'}, 0, 0, 0, 4),
		"four bytes are enough":          []byte("GET "),
		"another protocol":               []byte("GET / HTTP/1.1\r\n\r\n"),
		"a length of zero":               {0, 0, 0, 0},
		"a length of itself":             {0, 0, 0, 4},
		"a length without a code":        {0, 0, 0, 7},
		"a length one too long":          binary.BigEndian.AppendUint32(nil, 10_005),
		"a negative length":              {0xff, 0xff, 0xff, 0xff},
		"a CancelRequest without a key":  packet.First(cancel, ""),
		"a CancelRequest cut short":      packet.First(cancel, "\x00\x00\x00\x01"),
		"a CancelRequest of 400 bytes":   packet.First(cancel, strings.Repeat("\x00", 392)),
	}
	said := map[string][]byte{
		"nothing but the version":         packet.First(version30, ""),
		"a name without an end":           packet.First(version30, "user"),
		"a value without an end":          packet.First(version30, "user\x00ann"),
		"a name without a value":          packet.First(version30, "user\x00"),
		"no terminator":                   packet.First(version30, "user\x00ann\x00"),
		"bytes behind the terminator":     packet.First(version30, "user\x00ann\x00\x00\x00\x00"),
		"protocol 1":                      packet.First(1<<16, "\x00"),
		"protocol 2":                      packet.First(2<<16, "user\x00ann\x00\x00"),
		"protocol 4":                      packet.First(4<<16, "user\x00ann\x00\x00"),
		"a request nobody knows":          packet.First(80877102+100, ""),
		"a version of nobody's":           packet.First(1234<<16, "\x00"),
		"a negative version":              packet.First(0xffff0000, "\x00"),
		"protocol 4 behind an SSLRequest": packet.First(4<<16, "user\x00ann\x00\x00"),
	}
	for name, first := range silent {
		if want, got := verbatim(t, d.Host, first), verbatim(t, u.Host, first); want != "" || got != "" {
			t.Errorf("%s: PostgreSQL says %q, and the proxy %q; expected that both hang up without a byte",
				name, want, got)
		}
	}
	for name, first := range said {
		parts := [][]byte{first}
		if strings.HasSuffix(name, "SSLRequest") {
			parts = [][]byte{sslRequest, first}
		}
		if want, got := verbatim(t, d.Host, parts...), verbatim(t, u.Host, parts...); want == "" || got != want {
			t.Errorf("%s: PostgreSQL says\n%q\nand through the proxy\n%q", name, want, got)
		}
	}
	if n := p.Stats().Opened; n != 0 {
		t.Errorf("%d sessions were opened", n)
	}
}

// words returns the severity, SQLSTATE, message and detail of an ErrorResponse, and the bytes before it.
func words(said string) []string {
	before, body, found := strings.Cut(said, "E\x00")
	if !found || len(body) < 3 {
		return []string{said}
	}
	all := []string{before}
	for field := range strings.SplitSeq(body[3:], "\x00") {
		if field != "" && strings.Contains("SVCM", field[:1]) {
			all = append(all, field)
		}
	}
	return all
}

func TestARequestForEncryptionIsRefusedInPostgreSQLsWords(t *testing.T) {
	t.Parallel()
	direct := server.Database(t)
	at, p := through(t, direct)
	d, u := server.Parse(t, direct), server.Parse(t, at)
	hello := hello(version30, "user", "postgres", "database", d.Path[1:])
	want := words(verbatim(t, d.Host, slices.Concat(sslRequest, hello)))
	got := words(verbatim(t, u.Host, slices.Concat(sslRequest, hello)))
	if !slices.Equal(want, got) || len(got) != 5 {
		t.Errorf("to bytes behind an SSLRequest PostgreSQL says\n%q\nand the proxy\n%q", want, got)
	}
	// This PostgreSQL may support GSSAPI. The proxy refuses it.
	if got := words(verbatim(t, u.Host, slices.Concat(gssEncRequest, hello))); len(got) != 5 || got[0] != "N" ||
		got[4] != "Mreceived unencrypted data after GSSAPI encryption request" {
		t.Errorf("to bytes behind a GSSENCRequest the proxy says %q", got)
	}
	want = words(verbatim(t, d.Host, sslRequest, sslRequest))
	got = words(verbatim(t, u.Host, sslRequest, sslRequest))
	if len(want) != 5 || len(got) != 5 || !slices.Equal(want[:4], got[:4]) {
		t.Errorf("to a second SSLRequest PostgreSQL says\n%q\nand the proxy\n%q", want, got)
	}
	if n := p.Stats().Opened; n != 0 {
		t.Errorf("%d sessions were opened", n)
	}
}

// The proxy cannot relay a frame whose end it cannot know. It refuses it with an error of its own.
func TestABrokenFrameEndsTheSessionAsInPostgreSQLButInTheProxysWords(t *testing.T) {
	t.Parallel()
	direct := server.Database(t)
	at, _ := through(t, direct)
	d, p := server.Parse(t, direct), server.Parse(t, at)
	session := hello(version30, "user", "postgres", "database", d.Path[1:])
	for name, then := range map[string][]byte{
		"a message too short":            {'Q', 0, 0, 0, 3},
		"a message too long":             {'Q', 0x7f, 0xff, 0xff, 0xff},
		"a message of a negative length": {'Q', 0x80, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			last := func(address string) string {
				r := dial(t, address)
				r.say(session)
				r.until('Z')
				r.say(then)
				return strings.Join(r.rest(), "|")
			}
			if want := last(d.Host); want != "" {
				t.Errorf("PostgreSQL says %q; expected that it only hangs up", want)
			}
			if got := last(p.Host); strings.Count(got, "VFATAL") != 1 || !strings.Contains(got, "C08P01") ||
				!strings.Contains(got, "\x00H") {
				t.Errorf("the proxy says %q; expected one FATAL 08P01 with a hint", got)
			}
		})
	}
}

// A client that knows that it will be let in may send all it has to say behind its startup packet, or its password.
func TestWhatIsSentBeforeTheLoginIsOverIsServedAsByPostgreSQL(t *testing.T) {
	server.NoLeak(t)
	direct := server.Migrated(t)
	at, _ := through(t, direct)
	server.Exec(t, direct, "CREATE ROLE hasty LOGIN PASSWORD 'secret' IN ROLE login_password")
	t.Cleanup(func() { server.Exec(t, direct, "DROP ROLE hasty") })
	database := server.Name(t, direct)
	long := strings.Repeat("x", 100_000)
	said := slices.Concat(bytes.Repeat(append(query(""), execute("SELECT 1", true)...), 5000),
		query("SELECT length('"+long+"')"), execute("SELECT length('"+long+"')", true), encode(&pgproto3.Terminate{}))
	password := encode(&pgproto3.PasswordMessage{Password: "secret"})
	for name, c := range map[string]struct {
		user   string
		behind []byte // what the client sends before it, once it is asked
	}{
		"behind the startup packet": {user: "postgres"},
		"behind the password":       {user: "hasty", behind: password},
	} {
		t.Run(name, func(t *testing.T) {
			var ends [2]string
			for i, url := range []string{direct, at} {
				r := dial(t, server.Parse(t, url).Host)
				first := hello(version30, "user", c.user, "database", database)
				if len(c.behind) > 0 {
					r.say(first)
					r.until('R')
					first = c.behind
				}
				go func() { _, _ = r.conn.Write(slices.Concat(first, said)) }()
				r.until('Z')
				ends[i] = strings.Join(r.rest(), "\n")
			}
			if n := strings.Count(ends[0], "\nZI"); n != 10_002 || ends[0] != ends[1] {
				t.Errorf("PostgreSQL says %d bytes with %d ReadyForQuery; expected 10,002. "+
					"The proxy says %d bytes, %.300q", len(ends[0]), n, len(ends[1]), ends[1])
			}
		})
	}
}
