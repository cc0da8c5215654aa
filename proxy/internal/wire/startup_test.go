package wire

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/packet"
)

var hello = packet.Startup

// resized gives a packet its length.
func resized(b []byte) []byte {
	b = slices.Clone(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)))
	return b
}

func TestAStartupPacketIsReadAsPostgreSQLReadsIt(t *testing.T) {
	long := strings.Repeat("n", 70)
	for name, c := range map[string]struct {
		packet []byte
		want   Startup
	}{
		"a user alone": {hello(3<<16, "user", "u"), Startup{User: "u", Database: "u"}},
		"parameters, in their order": {
			hello(3<<16, "TimeZone", "UTC", "user", "u", "datestyle", "ISO", "database", "d", "options", "-c a=b"),
			Startup{
				User: "u", Database: "d", Options: "-c a=b",
				Parameters: []Parameter{{"TimeZone", "UTC"}, {"datestyle", "ISO"}},
			},
		},
		"the last one of several": {
			hello(3<<16, "user", "u", "user", "v", "database", "d", "database", "e"), Startup{User: "v", Database: "e"},
		},
		"a long name": {
			hello(3<<16, "user", long, "database", long), Startup{User: long[:63], Database: long[:63]},
		},
		"a newer version": {hello(3<<16|9999, "user", "u"), Startup{Version: 3<<16 | 9999, User: "u", Database: "u"}},
		"extensions of the protocol": {
			hello(3<<16, "user", "u", "_pq_.a", "1", "_pq_.b", "2"),
			Startup{User: "u", Database: "u", Extensions: []string{"_pq_.a", "_pq_.b"}},
		},
		"replication": {
			hello(3<<16, "user", "u", "replication", "database"),
			Startup{User: "u", Database: "u", Replication: "database"},
		},
		"nobody": {hello(3 << 16), Startup{}},
	} {
		if c.want.Version == 0 {
			c.want.Version = 3 << 16
		}
		if c.want.Replication == "" {
			c.want.Replication = "off"
		}
		if got, ok := ParseStartup(c.packet); !ok || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v; expected %+v", name, got, ok, c.want)
		}
	}
	for value, replicates := range map[string]bool{
		"off": false, "0": false, "no": false, "on": true, "database": true, "": true, "o": true,
	} {
		if s := (Startup{Replication: value}); s.Replicates() != replicates {
			t.Errorf("replication=%s replicates: %v", value, s.Replicates())
		}
	}
}

func TestAStartupPacketThatPostgreSQLRefusesIsRefused(t *testing.T) {
	good := hello(3<<16, "user", "u")
	for name, packet := range map[string][]byte{
		"nothing":                  nil,
		"a length alone":           {0, 0, 0, 4},
		"another length":           append(slices.Clone(good), 0),
		"something behind its end": resized(append(slices.Clone(good), 'x')),
		"two ends":                 resized(append(slices.Clone(good), 0)),
		"no end":                   resized(good[:len(good)-1]),
		"a name without a value":   resized(append(good[:len(good)-1:len(good)-1], "a\x00"...)),
		"half a value":             resized(append(good[:len(good)-1:len(good)-1], "a\x00b"...)),
		"too long":                 hello(3<<16, "user", strings.Repeat("u", 10000)),
		"version 2":                hello(2<<16, "user", "u"),
		"version 4":                hello(4<<16, "user", "u"),
		"a request to cancel":      hello(CancelRequest),
	} {
		if s, ok := ParseStartup(packet); ok {
			t.Errorf("%s: %+v; expected that it is refused", name, s)
		}
	}
}
