package command

// Codes of PostgreSQL (https://www.postgresql.org/docs/current/errcodes-appendix.html).
const (
	codeNotSupported    = "0A000"
	codeProtocol        = "08P01"
	codeNumberRange     = "22003"
	codeNullNotAllowed  = "22004"
	codeNotInRepertoire = "22021"
	codeParameterValue  = "22023"
	codeText            = "22P02"
	codeBinary          = "22P03"
	codeSyntax          = "42601"
	codeNameTooLong     = "42622"
	codeNoObject        = "42704"
	codeNoFunction      = "42883"
	codeNoParameter     = "42P02"
	codeIndeterminate   = "42P18"
	codeProgramLimit    = "54000"
	codeTooManyColumns  = "54011"
	codePrerequisite    = "55000"
)
