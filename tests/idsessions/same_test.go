package idsessions

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/account"
	"pgflurry/proxy/idserver"
	"pgflurry/proxy/scram"
	"pgflurry/tests/support/packet"
	"pgflurry/tests/support/server"
)

// talk is one conversation, recorded as text.
type talk struct {
	conn net.Conn
	told []string
}

var (
	random  = regexp.MustCompile(`([rsv])=[^,\x00]+`)
	ignored = regexp.MustCompile(`(?m)^[FLRPWq][^\n]*\n?`) // places in PostgreSQL's source, and in a statement
)

// hear reads one message and records it. It masks the random parts.
func (x *talk) hear() (kind byte, body []byte, err error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(x.conn, head); err != nil {
		x.told = append(x.told, "end")
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	if _, err := io.ReadFull(x.conn, body); err != nil {
		return 0, nil, err
	}
	text := random.ReplaceAllString(string(body), "$1=…")
	switch head[0] {
	case 'K':
		text = fmt.Sprintf("%d bytes", len(body))
	case 'E':
		text = ignored.ReplaceAllString(strings.ReplaceAll(text, "\x00", "\n"), "")
		text = strings.TrimRight(text, "\n")
	}
	x.told = append(x.told, fmt.Sprintf("%c %q", head[0], text))
	return head[0], body, nil
}

// rest reads until the connection ends or the session is ready.
func (x *talk) rest() {
	for {
		if kind, _, err := x.hear(); err != nil || kind == 'Z' {
			return
		}
	}
}

func message(kind byte, body string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...)
}

func initial(mechanism, first string) []byte {
	return message('p', mechanism+"\x00"+string(binary.BigEndian.AppendUint32(nil, uint32(len(first))))+first)
}

// logIn goes through SCRAM with a password.
func (x *talk) logIn(password string) {
	client, err := scram.NewClient([]byte(scram.Plain+"\x00\x00"), password, nil)
	if err != nil {
		panic(err)
	}
	first, _ := client.Step("")
	for kind := byte(0); kind != 'R'; {
		if kind, _, err = x.hear(); err != nil {
			return
		}
	}
	x.conn.Write(initial(scram.Plain, first))
	_, challenge, err := x.hear()
	if err != nil || len(challenge) < 4 {
		return
	}
	final, err := client.Step(string(challenge[4:]))
	if err != nil {
		return
	}
	x.conn.Write(message('p', final))
	x.rest()
}

// sends returns a conversation in which the client sends these messages instead of a password.
func sends(messages ...[]byte) func(*talk) {
	return func(x *talk) {
		x.hear()
		for i, m := range messages {
			if i > 0 {
				x.hear()
			}
			x.conn.Write(m)
		}
		x.hear()
		x.conn.(*net.TCPConn).CloseWrite()
		x.rest()
	}
}

func knows(password string) func(*talk) { return func(x *talk) { x.logIn(password) } }

func TestALoginIsToldAsPostgreSQLTellsIt(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	database := server.Name(t, url)
	conn := server.Connect(t, url)
	server.Do(t, conn, "SET password_encryption = 'scram-sha-256'")
	for _, role := range []string{"one", "none", "late", "full"} {
		server.Do(t, conn, "CREATE ROLE idlogin_"+role+" LOGIN PASSWORD 'right' IN ROLE login_scram")
		t.Cleanup(func() { server.Exec(t, url, "DROP ROLE idlogin_"+role) })
	}
	one, full := verified(t, conn, "idlogin_one"), verified(t, conn, "idlogin_full")
	late := verified(t, conn, "idlogin_late")
	server.Do(t, conn, "ALTER ROLE idlogin_none PASSWORD NULL")
	server.Do(t, conn, "ALTER ROLE idlogin_late VALID UNTIL '2001-01-01'")
	server.Do(t, conn, "ALTER ROLE idlogin_full CONNECTION LIMIT 0")
	full.ConnectionLimit, late.ValidUntil = 0, time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	accounts := &members{}
	accounts.set(one, full, late, account.Account{Name: "idlogin_none"})
	parameters := map[string]string{}
	at := start(t, database, parameters, nil, func(s *idserver.Settings) { s.Accounts = accounts.get })
	parsed := server.Parse(t, url)
	askedFirst := &talk{conn: dial(t, parsed.Host)}
	askedFirst.conn.Write(packet.Startup(3<<16, "user", "idlogin_one", "database", database))
	askedFirst.logIn("right")
	for _, line := range askedFirst.told {
		if quoted, is := strings.CutPrefix(line, "S "); is {
			said, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(said, "\x00"), "\x00")
			parameters[name] = value
		}
	}
	if len(parameters) < 10 {
		t.Fatalf("PostgreSQL reported %v", parameters)
	}

	in := func(pairs ...string) []byte {
		return packet.Startup(3<<16, append([]string{"user", "idlogin_one", "database", database}, pairs...)...)
	}
	as := func(role string) []byte { return packet.Startup(3<<16, "user", role, "database", database) }
	const begins, proof = "n,,n=,r=abc", ",p=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	plain := func(first string, more ...[]byte) func(*talk) {
		return sends(append([][]byte{initial(scram.Plain, first)}, more...)...)
	}
	first := func(body string) func(*talk) { return sends(message('p', body)) }
	for name, c := range map[string]struct {
		packet []byte
		does   func(*talk)
	}{
		"the right password":       {in(), knows("right")},
		"a wrong one":              {in(), knows("wrong")},
		"no verifier":              {as("idlogin_none"), knows("right")},
		"an account that is over":  {as("idlogin_late"), knows("right")},
		"one session too many":     {as("idlogin_full"), knows("right")},
		"an application":           {in("application_name", "shop\u00e9\x01"), knows("right")},
		"DateStyle":                {in("DateStyle", "iso, ymd"), knows("right")},
		"other settings":           {in("timezone", "Europe/Paris", "intervalstyle", "sql_standard"), knows("right")},
		"an encoding":              {in("client_encoding", "sql-ascii"), knows("right")},
		"options":                  {in("options", `-c application_name=a\ b --search-path=x`), knows("right")},
		"options and parameters":   {in("options", "-c application_name=no", "application_name", "b"), knows("right")},
		"an option without value":  {in("options", "-c geqo"), knows("right")},
		"a long option without it": {in("options", "--geqo"), knows("right")},
		"a bad value":              {in("IntervalStyle", "klingon"), knows("right")},
		"no user":                  {packet.Startup(3<<16, "database", database), (*talk).rest},
		"an empty user":            {packet.Startup(3<<16, "user", "", "database", database), (*talk).rest},
		"bad replication":          {in("replication", "maybe"), (*talk).rest},
		"no replication":           {in("replication", "no"), knows("right")},
		"an extension":             {in("_pq_.x", "1"), knows("right")},
		"another mechanism":        {in(), sends(initial("SCRAM-SHA-512", begins))},
		"binding without TLS":      {in(), sends(initial(scram.Plus, "p=tls-server-end-point,,n=,r=abc"))},
		"binding data without it":  {in(), plain("p=tls-server-end-point,,n=,r=abc")},
		"it would bind":            {in(), plain("y,,n=,r=abc", message('p', "c=eSws,r=x"+proof))},
		"another header":           {in(), plain(begins, message('p', "c=eSws,r=x"+proof))},
		"an identity":              {in(), plain("n,a=b,n=,r=abc")},
		"an extension of SCRAM":    {in(), plain("n,,m=x,n=,r=abc")},
		"an odd nonce":             {in(), plain("n,,n=,r=a\x07c")},
		"no first message":         {in(), first(scram.Plain + "\x00\xff\xff\xff\xff")},
		"clear text":               {in(), first("right\x00")},
		"no end of a name":         {in(), first(scram.Plain)},
		"no length":                {in(), first(scram.Plain + "\x00\x00")},
		"a length too large":       {in(), first(scram.Plain + "\x00\x00\x00\x00\x09n,,")},
		"a length too small":       {in(), first(scram.Plain + "\x00\x00\x00\x00\x01n,,n=,r=abc")},
		"a Query":                  {in(), sends(message('Q', "SELECT 1\x00"))},
		"Terminate":                {in(), sends(message('X', ""))},
		"another nonce":            {in(), plain(begins, message('p', "c=biws,r=abcx"+proof))},
		"Terminate, later":         {in(), plain("n,,n=somebody,r=abc", message('X', ""))},
	} {
		heard := make(map[string][]string)
		for side, address := range map[string]string{"PostgreSQL": parsed.Host, "the ID database": at} {
			x := &talk{conn: dial(t, address)}
			x.conn.Write(c.packet)
			c.does(x)
			x.conn.Close()
			heard[side] = sorted(x.told)
		}
		if theirs, ours := heard["PostgreSQL"], heard["the ID database"]; !slices.Equal(theirs, ours) {
			t.Errorf("%s:\nPostgreSQL says\n\t%s\nand the ID database\n\t%s", name, strings.Join(theirs, "\n\t"),
				strings.Join(ours, "\n\t"))
		}
	}
}

// sorted puts the ParameterStatus messages in order. PostgreSQL sends them in the order of a hash table.
func sorted(told []string) []string {
	told = slices.Clone(told)
	slices.SortStableFunc(told, func(a, b string) int {
		if a[0] == 'S' && b[0] == 'S' {
			return strings.Compare(a, b)
		}
		return 0
	})
	return told
}

func dial(t testing.TB, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}
