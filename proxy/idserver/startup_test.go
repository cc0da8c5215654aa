package idserver

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/wire"
)

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
		all, err := settings(&wire.Startup{Options: text, Parameters: []wire.Parameter{{Name: "z", Value: "1"}}})
		var got []string
		for _, o := range all {
			got = append(got, o.Name+"="+o.Value)
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
	v = h.comes(nil)
	v.send(hello(3<<16, "user", "ann", "database", "ids", "replication", "o"))
	v.refused("22023", "replication")
	h.empties()
	h.counts("refused", 4)
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
	h.server.nothingIsLeft(t, nil)
}
