package wire

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

// What Describe and Close name.
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

// NameBytes is how much of a name PostgreSQL looks at (NAMEDATALEN - 1): names that are equal so far are one name.
const NameBytes = 63

// Type OIDs (pg_type.dat): of columns, of a row count (the integers), of a tag (text and varchar).
const (
	OIDInt8    = 20
	OIDInt2    = 21
	OIDInt4    = 23
	OIDText    = 25
	OIDVarchar = 1043
)
