package proxy

import (
	"bytes"
	"encoding/binary"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Kinds of messages, https://www.postgresql.org/docs/current/protocol-message-formats.html.
const (
	frontendBind         = 'B'
	frontendClose        = 'C'
	frontendCopyData     = 'd'
	frontendCopyDone     = 'c'
	frontendCopyFail     = 'f'
	frontendDescribe     = 'D'
	frontendExecute      = 'E'
	frontendFlush        = 'H'
	frontendFunctionCall = 'F'
	frontendParse        = 'P'
	frontendPassword     = 'p' // also the SASL and GSS responses
	frontendQuery        = 'Q'
	frontendSync         = 'S'
	frontendTerminate    = 'X'

	backendAuthentication       = 'R'
	backendBindComplete         = '2'
	backendCloseComplete        = '3'
	backendCommandComplete      = 'C'
	backendCopyBoth             = 'W'
	backendCopyData             = 'd'
	backendCopyIn               = 'G'
	backendDataRow              = 'D'
	backendErrorResponse        = 'E'
	backendNegotiateVersion     = 'v'
	backendNoticeResponse       = 'N'
	backendNotificationResponse = 'A'
	backendParameterDescription = 't'
	backendParameterStatus      = 'S'
	backendParseComplete        = '1'
	backendPortalSuspended      = 's'
	backendReadyForQuery        = 'Z'
	backendRowDescription       = 'T'
)

// What Describe and Close name.
const (
	ofPortal    = 'P'
	ofStatement = 'S'
)

// Transaction status of a ReadyForQuery.
const (
	statusIdle        = 'I'
	statusTransaction = 'T'
	statusFailed      = 'E'
)

// nameBytes is how much of a name PostgreSQL looks at (NAMEDATALEN - 1): names that are equal so far are one name.
const nameBytes = 63

// Messages of the proxy's own.
var (
	closeUnnamedStatement = encoded(&pgproto3.Close{ObjectType: ofStatement})
	closeUnnamedPortal    = encoded(&pgproto3.Close{ObjectType: ofPortal})
	terminateMessage      = encoded(&pgproto3.Terminate{})

	parseComplete   = encoded(&pgproto3.ParseComplete{})
	bindComplete    = encoded(&pgproto3.BindComplete{})
	closeComplete   = encoded(&pgproto3.CloseComplete{})
	portalSuspended = encoded(&pgproto3.PortalSuspended{})
	noParameters    = encoded(&pgproto3.ParameterDescription{})
)

// encoded is a message as it goes over the wire. It is for constants: what it cannot encode is a fault of the program.
func encoded(m interface{ Encode([]byte) ([]byte, error) }) []byte {
	b, err := m.Encode(nil)
	if err != nil {
		panic(err)
	}
	return b
}

// begin begins a message; end, given what begin returned as at, fills its length in.
func begin(b []byte, kind byte) (message []byte, at int) {
	return append(b, kind, 0, 0, 0, 0), len(b) + 1
}

func end(b []byte, at int) []byte {
	binary.BigEndian.PutUint32(b[at:], uint32(len(b)-at))
	return b
}

// cutName takes a name, which ends with a zero byte, off the front. Of a message that is cut off the end may not be in
// sight; then all there is counts as the name, and it is not empty.
func cutName(b []byte) (name, rest []byte) {
	name, rest, found := bytes.Cut(b, []byte{0})
	if !found && len(name) == 0 {
		name = []byte{'?'}
	}
	return name, rest
}

// cutTarget reads what Describe and Close name: a portal or a statement, and its name.
func cutTarget(body []byte) (what byte, name []byte) {
	if len(body) == 0 {
		return 0, []byte{'?'}
	}
	name, _ = cutName(body[1:])
	return body[0], name
}

// isFatal reads the severity of an ErrorResponse that is not translated.
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
