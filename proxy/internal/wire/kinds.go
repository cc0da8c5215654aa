package wire

import "pgflurry/proxy/statement"

// Kinds of messages.
const (
	FrontendBind         = 'B'
	FrontendClose        = 'C'
	FrontendCopyData     = 'd'
	FrontendCopyDone     = 'c'
	FrontendCopyFail     = 'f'
	FrontendDescribe     = 'D'
	FrontendExecute      = 'E'
	FrontendFlush        = 'H'
	FrontendFunctionCall = 'F'
	FrontendParse        = 'P'
	FrontendPassword     = 'p' // also the SASL and GSS responses
	FrontendQuery        = 'Q'
	FrontendSync         = 'S'
	FrontendTerminate    = 'X'

	BackendAuthentication       = 'R'
	BackendBindComplete         = '2'
	BackendCloseComplete        = '3'
	BackendCommandComplete      = 'C'
	BackendCopyBoth             = 'W'
	BackendCopyData             = 'd'
	BackendCopyIn               = 'G'
	BackendDataRow              = 'D'
	BackendErrorResponse        = 'E'
	BackendKeyData              = 'K'
	BackendNegotiateVersion     = 'v'
	BackendNoticeResponse       = 'N'
	BackendNotificationResponse = 'A'
	BackendParameterDescription = 't'
	BackendParameterStatus      = 'S'
	BackendParseComplete        = '1'
	BackendPortalSuspended      = 's'
	BackendReadyForQuery        = 'Z'
	BackendRowDescription       = 'T'
)

// Targets of Describe and Close.
const (
	OfPortal    = 'P'
	OfStatement = 'S'
)

// Transaction status of a ReadyForQuery.
const (
	StatusIdle        = 'I'
	StatusTransaction = 'T'
	StatusFailed      = 'E'
)

// Requests of an Authentication message.
const (
	AuthDone         = 0
	AuthCleartext    = 3
	AuthMD5          = 5
	AuthSASL         = 10
	AuthSASLContinue = 11
	AuthSASLFinal    = 12
)

// CancelRequest is the code of a packet that asks to cancel a statement. It stands where a startup packet has the
// version.
const CancelRequest = 80877102

// MaxStartup is PostgreSQL's limit for a first packet in bytes: MAX_STARTUP_PACKET_LENGTH, and the length itself.
const MaxStartup = 10000 + 4

// NameBytes is how much of a name PostgreSQL keeps: two names with the same first NameBytes bytes are one name.
const NameBytes = statement.IdentifierBytes

// Type OIDs (pg_type.dat): of columns, of a row count (the integers), of a tag (text and varchar).
const (
	OIDInt8    = 20
	OIDInt2    = 21
	OIDInt4    = 23
	OIDText    = 25
	OIDVarchar = 1043
)
