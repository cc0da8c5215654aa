package wire

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// StartupHead is the size in bytes of what each first packet begins with: its length and a code.
const StartupHead = 8

// ofProtocol is the prefix of a parameter that asks for an extension of the protocol.
const ofProtocol = "_pq_."

// Startup is what a StartupMessage asks for. If a parameter comes again, the last one counts.
type Startup struct {
	Version        uint32 // of the protocol
	User, Database string // at most NameBytes, as PostgreSQL keeps them; without a database it is the user's name
	Options        string
	Replication    string      // "off" if the client says nothing
	Extensions     []string    // of the protocol, that the client asks for
	Parameters     []Parameter // all others, in their order
}

// Parameter is one of a StartupMessage, as it came.
type Parameter struct{ Name, Value string }

// ParseStartup reads a StartupMessage with its length. It is as strict as PostgreSQL's ProcessStartupPacket, and
// returns false for a packet that PostgreSQL refuses without a look at the parameters.
// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP
func ParseStartup(raw []byte) (s Startup, ok bool) {
	if len(raw) < StartupHead || len(raw) > MaxStartup || binary.BigEndian.Uint32(raw) != uint32(len(raw)) {
		return s, false
	}
	s = Startup{Version: binary.BigEndian.Uint32(raw[4:]), Replication: "off"}
	rest := raw[StartupHead:]
	for len(rest) > 0 && rest[0] != 0 {
		name, behind, _ := bytes.Cut(rest, []byte{0})
		value, behind, whole := bytes.Cut(behind, []byte{0})
		if !whole {
			return Startup{}, false
		}
		s.take(string(name), string(value))
		rest = behind
	}
	if s.Database == "" {
		s.Database = s.User
	}
	return s, len(rest) == 1 && s.Version>>16 == 3 // what is left is the terminator
}

func (s *Startup) take(name, value string) {
	switch {
	case name == "user":
		s.User = value[:min(len(value), NameBytes)]
	case name == "database":
		s.Database = value[:min(len(value), NameBytes)]
	case name == "options":
		s.Options = value
	case name == "replication":
		s.Replication = value
	case strings.HasPrefix(name, ofProtocol):
		s.Extensions = append(s.Extensions, name)
	default:
		s.Parameters = append(s.Parameters, Parameter{name, value})
	}
}

// Replicates says whether the session may become one of replication. A value that is no boolean counts as yes.
func (s *Startup) Replicates() bool {
	wanted, isBool := ParseBool(s.Replication)
	return wanted || !isBool
}
