package idserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/fault"
	"pgflurry/proxy/wire"
)

func TestAStartupPacketIsReadAsPostgreSQLReadsIt(t *testing.T) {
	long := strings.Repeat("n", 70)
	for name, c := range map[string]struct {
		packet []byte
		want   packet
	}{
		"a user alone": {
			hello(3<<16, "user", "u"), packet{version: 3 << 16, user: "u", database: "u"},
		},
		"parameters, in their order": {
			hello(3<<16, "TimeZone", "UTC", "user", "u", "datestyle", "ISO", "database", "d"),
			packet{
				version: 3 << 16, user: "u", database: "d",
				parameters: []option{{"TimeZone", "UTC"}, {"datestyle", "ISO"}},
			},
		},
		"the last one of several": {
			hello(3<<16, "user", "u", "user", "v", "database", "d", "database", "e"),
			packet{version: 3 << 16, user: "v", database: "e"},
		},
		"a long name": {
			hello(3<<16, "user", long, "database", long),
			packet{version: 3 << 16, user: long[:63], database: long[:63]},
		},
		"3.2": {hello(3<<16|2, "user", "u"), packet{version: 3<<16 | 2, user: "u", database: "u"}},
		"3.1": {hello(3<<16|1, "user", "u"), packet{version: 3<<16 | 1, user: "u", database: "u"}},
		"a newer version": {
			hello(3<<16|9999, "user", "u"), packet{version: 3<<16 | 2, newer: true, user: "u", database: "u"},
		},
		"extensions of the protocol": {
			hello(3<<16, "user", "u", "_pq_.a", "1", "_pq_.b", "2"),
			packet{version: 3 << 16, user: "u", database: "u", unknown: []string{"_pq_.a", "_pq_.b"}},
		},
		"no replication": {
			hello(3<<16, "user", "u", "replication", "OFF"), packet{version: 3 << 16, user: "u", database: "u"},
		},
		"nobody": {hello(3 << 16), packet{version: 3 << 16}},
	} {
		got, err := parseStartup(c.packet)
		if err != nil || got.version != c.want.version || got.newer != c.want.newer || got.user != c.want.user ||
			got.database != c.want.database || !slices.Equal(got.unknown, c.want.unknown) ||
			!slices.Equal(got.parameters, c.want.parameters) {
			t.Errorf("%s: %+v, %v; expected %+v", name, got, err, c.want)
		}
	}
}

func TestAStartupPacketThatPostgreSQLRefusesIsRefused(t *testing.T) {
	good := hello(3<<16, "user", "u")
	resized := func(b []byte) []byte {
		b = slices.Clone(b)
		binary.BigEndian.PutUint32(b, uint32(len(b)))
		return b
	}
	for name, c := range map[string]struct {
		packet   []byte
		sqlstate string
	}{
		"nothing":                   {nil, "08P01"},
		"a length alone":            {[]byte{0, 0, 0, 4}, "08P01"},
		"another length":            {append(slices.Clone(good), 0), "08P01"},
		"something behind its end":  {resized(append(slices.Clone(good), 'x')), "08P01"},
		"two ends":                  {resized(append(slices.Clone(good), 0)), "08P01"},
		"no end":                    {resized(good[:len(good)-1]), "08P01"},
		"a name without a value":    {resized(append(good[:len(good)-1:len(good)-1], "a\x00"...)), "08P01"},
		"half a value":              {resized(append(good[:len(good)-1:len(good)-1], "a\x00b"...)), "08P01"},
		"too long":                  {hello(3<<16, "user", strings.Repeat("u", 10000)), "08P01"},
		"version 2":                 {hello(2<<16, "user", "u"), "0A000"},
		"version 4":                 {hello(4<<16, "user", "u"), "0A000"},
		"a request to cancel":       {hello(wire.CancelRequest), "0A000"},
		"replication":               {hello(3<<16, "user", "u", "replication", "true"), "0A000"},
		"replication of a database": {hello(3<<16, "user", "u", "replication", "database"), "0A000"},
		"what is not true or false": {hello(3<<16, "user", "u", "replication", "o"), "22023"},
	} {
		var p fault.Error
		if w, err := parseStartup(c.packet); !errors.As(err, &p) || p.SQLState != c.sqlstate {
			t.Errorf("%s: %+v, %v; expected %s", name, w, err, c.sqlstate)
		}
	}
}

func TestOptionsAreSplitAndReadAsPostgreSQLDoes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"   \t\n":                           "",
		"-c a=b":                            "a=b",
		"-ca=b  -c\tc-d=e=f":                "a=b c_d=e=f",
		"--work-mem=4MB --a=":               "work_mem=4MB a=",
		`-c a=b\ c -c d=\\`:                 `a=b c d=\`,
		`-c a=\-c`:                          "a=-c",
		"-c a":                              "42601 -c a requires a value",
		"--a":                               "42601 --a requires a value",
		"-c":                                "42601 invalid command-line argument for server process: -c",
		"--":                                "42601 invalid command-line argument for server process: --",
		"x":                                 "42601 invalid command-line argument for server process: x",
		"-S 64":                             "42601 invalid command-line argument for server process: -S",
		"-c search_path=a,b -c b=c d":       "42601 invalid command-line argument for server process: d",
		"-c geqo=off --client-encoding=SQL": "geqo=off client_encoding=SQL",
	} {
		w := packet{options: text, parameters: []option{{"z", "1"}}}
		all, err := w.settings()
		var got []string
		for _, o := range all {
			got = append(got, o.name+"="+o.value)
		}
		said := strings.TrimSuffix(strings.TrimSuffix(strings.Join(got, " "), "z=1"), " ")
		var p fault.Error
		if errors.As(err, &p) {
			said = p.SQLState + " " + p.Message
		}
		if said != want {
			t.Errorf("%q: %q; expected %q", text, said, want)
		}
	}
}

func TestWhatIsNotKnownOfTheProtocolIsNegotiatedInFrontOfTheLogin(t *testing.T) {
	for name, c := range map[string]struct {
		packet []byte
		want   *pgproto3.NegotiateProtocolVersion
		key    int
	}{
		"3.0": {hello(3<<16, "user", "ann", "database", "ids"), nil, 8},
		"3.1": {hello(3<<16|1, "user", "ann", "database", "ids"), nil, 8},
		"3.2": {hello(3<<16|2, "user", "ann", "database", "ids"), nil, 36},
		"3.9999 and an extension, as the newest libpq asks": {
			hello(3<<16|9999, "user", "ann", "database", "ids", "_pq_.test_protocol_negotiation", ""),
			&pgproto3.NegotiateProtocolVersion{
				NewestMinorProtocol: 3<<16 | 2, UnrecognizedOptions: []string{"_pq_.test_protocol_negotiation"},
			},
			36,
		},
		"3.0 and an extension": {
			hello(3<<16, "user", "ann", "database", "ids", "_pq_.x", "1"),
			&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: 3 << 16, UnrecognizedOptions: []string{"_pq_.x"}},
			8,
		},
	} {
		h := newHall(t)
		v := h.comes(nil)
		v.send(c.packet)
		if c.want != nil {
			kind, body := v.next()
			want := wire.Encoded(c.want)
			if got := append([]byte{kind, 0, 0, 0, byte(len(body) + 4)}, body...); !bytes.Equal(got, want) {
				t.Errorf("%s: the server said %q; expected %q", name, got, want)
			}
		}
		if key, _ := v.enters(password); len(key) != c.key {
			t.Errorf("%s: a key of %d bytes; expected %d", name, len(key), c.key)
		}
		v.leaves()
	}
}

func TestWhoNamesNobodyOrAnotherDatabaseIsRefusedInPostgreSQLsWords(t *testing.T) {
	h := newHall(t)
	v := h.comes(nil)
	v.send(hello(3<<16, "database", "ids"))
	v.refused("28000", "no PostgreSQL user name specified in startup packet")
	v = h.comes(nil)
	v.send(hello(3<<16, "user", "ann", "database", "other"))
	v.refused("3D000", `database "other" does not exist`)
	v = h.comes(nil)
	v.send(hello(3<<16, "user", "ann", "database", "ids", "replication", "1"))
	v.refused("0A000", "the ID database has no replication")
	h.empties()
	h.counts("refused", 3)
}

func TestWhatTheStartupPacketSetsIsSetAndReported(t *testing.T) {
	h := newHall(t)
	v := h.knocks("ann", "application_name", "shop", "options", `-c application_name=no -c IntervalStyle=iso_8601`)
	_, parameters := v.enters(password)
	if parameters["application_name"] != "shop" || parameters["IntervalStyle"] != "iso_8601" ||
		parameters["server_version"] != real["server_version"] {
		t.Errorf("parameters: %v", parameters)
	}
	if all := h.server.Sessions(); len(all) != 1 || all[0].Application != "shop" {
		t.Errorf("sessions: %+v", all)
	}
	v.leaves()
	for name, c := range map[string]struct{ options, sqlstate string }{
		"no such encoding": {"-c client_encoding=klingon", "22023"},
		"no value":         {"-c geqo", "42601"},
	} {
		v = h.knocks("ann", "options", c.options)
		v.proves(password)
		v.asked(wire.AuthSASLFinal)
		v.asked(wire.AuthDone) // as with PostgreSQL: an unknown client learns nothing about settings
		v.refused(c.sqlstate, "")
		t.Logf("%s: refused", name)
	}
	h.empties()
	if h.server.register.placed != 0 {
		t.Errorf("%d places are taken", h.server.register.placed)
	}
}

func FuzzAStartupPacketIsReadAsTheOtherCodecReadsIt(f *testing.F) {
	f.Add(hello(3<<16, "user", "u", "database", "d", "options", `-c a=b\ c --d-e=f`))
	f.Add(hello(3<<16|2, "user", "u", "_pq_.x", "1", "replication", "off"))
	f.Add(hello(3 << 16))
	f.Add([]byte{0, 0, 0, 9, 0, 3, 0, 0, 0})
	f.Fuzz(func(t *testing.T, packet []byte) {
		w, err := parseStartup(packet)
		if err != nil {
			var p fault.Error
			if !errors.As(err, &p) {
				t.Fatalf("the client is told nothing of %v", err)
			}
			return
		}
		all, err := w.settings()
		if err == nil && len(all) > len(packet) {
			t.Fatalf("%d settings of %d bytes", len(all), len(packet))
		}
		if len(packet) == 9 {
			return // the other codec wants a parameter
		}
		var m pgproto3.StartupMessage
		if err := m.Decode(append([]byte{0, 3, 0, 0}, packet[8:]...)); err != nil {
			t.Fatalf("accepted %q, which the other codec refuses: %v", packet, err)
		}
		if user := m.Parameters["user"]; w.user != user[:min(len(user), 63)] {
			t.Fatalf("user %q; the other codec reads %q", w.user, user)
		}
		if m.Parameters["replication"] == "database" {
			t.Fatal("a replication session")
		}
	})
}
