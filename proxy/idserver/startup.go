package idserver

import (
	"encoding/binary"
	"strings"

	"pgflurry/internal/fault"
	"pgflurry/proxy/internal/wire"
)

// newestVersion is that of PostgreSQL 18: 3.2. Its one novelty is longer keys for cancel requests.
const newestVersion = 3<<16 | 2

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
func appendNegotiation(b []byte, wanted *wire.Startup) []byte {
	if wanted.Version <= newestVersion && len(wanted.Extensions) == 0 {
		return b
	}
	b, at := wire.Begin(b, wire.BackendNegotiateVersion)
	b = binary.BigEndian.AppendUint32(b, min(wanted.Version, newestVersion))
	b = binary.BigEndian.AppendUint32(b, uint32(len(wanted.Extensions)))
	for _, name := range wanted.Extensions {
		b = append(append(b, name...), 0)
	}
	return wire.End(b, at)
}

// settings returns all settings of a StartupMessage. As in PostgreSQL, "options" come first.
func settings(wanted *wire.Startup) ([]wire.Parameter, error) {
	all, err := readOptions(splitOptions(wanted.Options))
	if err != nil {
		return nil, err
	}
	return append(all, wanted.Parameters...), nil
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
func readOptions(arguments []string) (all []wire.Parameter, err error) {
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
		all = append(all, wire.Parameter{Name: strings.ReplaceAll(name, "-", "_"), Value: value})
	}
	return all, nil
}
