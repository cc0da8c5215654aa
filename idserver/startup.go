package idserver

import (
	"bytes"
	"encoding/binary"
	"strings"

	"pgflurry/fault"
	"pgflurry/proxy/wire"
)

// The startup packet, as PostgreSQL's ProcessStartupPacket reads it.
// https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-START-UP

const (
	startupHead = 8 // bytes: length and version
	// newestVersion is that of PostgreSQL 18: 3.2. Its one novelty is longer keys for cancel requests.
	newestVersion = 3<<16 | 2
	// ofProtocol is the prefix of a parameter that asks for an extension of the protocol; there are none yet.
	ofProtocol = "_pq_."
)

// option is a parameter of the startup packet, as it came there.
type option struct{ name, value string }

// packet is what a startup packet asks for.
type packet struct {
	version        uint32 // of the protocol, as far as both sides know it
	newer          bool   // the client would speak a newer one
	unknown        []string
	user, database string
	options        string
	parameters     []option // all others, in their order
}

// parseStartup reads a packet with its length. It is strict: if the proxy and this package read a packet differently, a
// client could bypass a check. The first error is PostgreSQL's.
func parseStartup(raw []byte) (p packet, err error) {
	if len(raw) < startupHead || len(raw) > wire.MaxStartup || binary.BigEndian.Uint32(raw) != uint32(len(raw)) {
		return p, fault.Errorf("08P01", "", "invalid length of startup packet")
	}
	version := binary.BigEndian.Uint32(raw[4:])
	if version>>16 != newestVersion>>16 {
		return p, fault.Errorf("0A000", "", "unsupported frontend protocol %d.%d: server supports 3.0 to 3.%d",
			version>>16, version&0xffff, newestVersion&0xffff)
	}
	p.version, p.newer = min(version, newestVersion), version > newestVersion
	rest := raw[startupHead:]
	for len(rest) > 0 && rest[0] != 0 {
		name, behind, whole := bytes.Cut(rest, []byte{0})
		value, behind, ok := bytes.Cut(behind, []byte{0})
		if !whole || !ok {
			rest = nil
			break
		}
		if err := p.set(string(name), string(value)); err != nil {
			return p, err
		}
		rest = behind
	}
	if len(rest) != 1 {
		return p, fault.Errorf("08P01", "", "invalid startup packet layout: expected terminator as last byte")
	}
	p.user, p.database = named(p.user), named(p.database)
	if p.database == "" {
		p.database = p.user
	}
	return p, nil
}

// named is a name as PostgreSQL keeps it.
func named(name string) string { return name[:min(len(name), wire.NameBytes)] }

// set handles one parameter. If it comes again, the last one counts.
func (p *packet) set(name, value string) error {
	switch {
	case name == "user":
		p.user = value
	case name == "database":
		p.database = value
	case name == "options":
		p.options = value
	case name == "replication":
		return noReplication(value)
	case strings.HasPrefix(name, ofProtocol):
		p.unknown = append(p.unknown, name)
	default:
		p.parameters = append(p.parameters, option{name, value})
	}
	return nil
}

// noReplication refuses a replication session.
func noReplication(value string) error {
	wanted, isBool := wire.ParseBool(value)
	switch {
	case isBool && !wanted:
		return nil
	case isBool || value == "database":
		return fault.Errorf("0A000", "Connect to a database of the PostgreSQL server for it.",
			"the ID database has no replication")
	}
	return fault.Errorf("22023", `Valid values are: "false", 0, "true", 1, "database".`,
		`invalid value for parameter "replication": "%s"`, value)
}

// appendNegotiation says which version the server speaks, and which requests it does not know. It writes nothing if it
// knows all of them.
func (p *packet) appendNegotiation(b []byte) []byte {
	if !p.newer && len(p.unknown) == 0 {
		return b
	}
	b, at := wire.Begin(b, wire.BackendNegotiateVersion)
	b = binary.BigEndian.AppendUint32(b, p.version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(p.unknown)))
	for _, name := range p.unknown {
		b = append(append(b, name...), 0)
	}
	return wire.End(b, at)
}

// settings returns all settings of the packet, in the order in which PostgreSQL applies them: "options" come first.
func (p *packet) settings() ([]option, error) {
	all, err := readOptions(splitOptions(p.options))
	if err != nil {
		return nil, err
	}
	return append(all, p.parameters...), nil
}

// splitOptions splits "options" at white space. A backslash makes the next character an ordinary one (pg_split_opts).
func splitOptions(text string) (arguments []string) {
	var argument []byte
	inside, escaped := false, false
	for i := range len(text) {
		c := text[i]
		switch {
		case isSpace(c) && !escaped:
			if inside {
				arguments = append(arguments, string(argument))
			}
			argument, inside = argument[:0], false
			continue
		case c == '\\' && !escaped:
			escaped = true
		default:
			argument, escaped = append(argument, c), false
		}
		inside = true
	}
	if inside {
		arguments = append(arguments, string(argument))
	}
	return arguments
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// readOptions reads -c name=value and --name=value. PostgreSQL's other switches mean nothing here.
func readOptions(arguments []string) (all []option, err error) {
	for i := 0; i < len(arguments); i++ {
		argument := arguments[i]
		text, short := strings.CutPrefix(argument, "-c")
		long := false
		if !short {
			text, long = strings.CutPrefix(argument, "--")
		}
		if short && text == "" && i+1 < len(arguments) { // the value is an argument of its own
			i++
			text = arguments[i]
		}
		if !short && !long || text == "" {
			return nil, fault.Errorf("42601", "Only -c name=value and --name=value are known to the ID database.",
				"invalid command-line argument for server process: %s", argument)
		}
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			dash := "-c "
			if long {
				dash = "--"
			}
			return nil, fault.Errorf("42601", "", "%s%s requires a value", dash, text)
		}
		all = append(all, option{strings.ReplaceAll(name, "-", "_"), value})
	}
	return all, nil
}
