package proxy

import (
	"bytes"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/wire"
)

// These are messages of the proxy's own.
var (
	closeUnnamedStatement = wire.Encoded(&pgproto3.Close{ObjectType: wire.OfStatement})
	closeUnnamedPortal    = wire.Encoded(&pgproto3.Close{ObjectType: wire.OfPortal})
	syncMessage           = wire.Encoded(&pgproto3.Sync{})
	terminateMessage      = wire.Encoded(&pgproto3.Terminate{})
)

// cutName splits off a name, which ends with a zero byte. In a truncated message the end of the name may be missing.
// Then everything counts as the name, and the name is never empty.
func cutName(b []byte) (name, rest []byte) {
	name, rest, found := bytes.Cut(b, []byte{0})
	if !found && len(name) == 0 {
		name = []byte{'?'}
	}
	return name, rest
}

// cutTarget reads the target of a Describe or Close: portal or statement, and its name.
func cutTarget(body []byte) (what byte, name []byte) {
	if len(body) == 0 {
		return 0, []byte{'?'}
	}
	name, _ = cutName(body[1:])
	return body[0], name
}

// isFatal reads the severity of an ErrorResponse from the field that is never translated.
func isFatal(body []byte) bool {
	severity := string(errorField(body, 'V'))
	return severity == "FATAL" || severity == "PANIC"
}

// errorField finds one field of an ErrorResponse, https://www.postgresql.org/docs/current/protocol-error-fields.html.
func errorField(body []byte, name byte) []byte {
	for len(body) > 1 {
		field, rest, ok := bytes.Cut(body[1:], []byte{0})
		if !ok {
			return nil
		}
		if body[0] == name {
			return field
		}
		body = rest
	}
	return nil
}
