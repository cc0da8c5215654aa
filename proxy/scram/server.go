package scram

import (
	"bytes"
	"errors"
	"strings"

	"github.com/xdg-go/scram"
)

// maxMessage is how long a message of the exchange may be, in bytes: as long as PostgreSQL takes. A client's have 60
// and 130.
const maxMessage = 1024

// ErrProof: the client does not know the password, or there is no such user.
var ErrProof = errors.New("the client's proof of the password is wrong")

// Error is an exchange that did not come to a proof, as PostgreSQL tells it.
type Error struct{ SQLSTATE, Message, Detail string }

func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Message
	}
	return e.Message + ": " + e.Detail
}

func violation(message, detail string) error { return &Error{"08P01", message, detail} }

func malformed(detail string) error { return violation("malformed SCRAM message", detail) }

// Server is the server's side of one exchange: Choose, then Step for each message of the client, until Done.
// One goroutine uses it.
type Server struct {
	verifier     Verifier
	binding      Binding
	mechanism    string
	flag         byte   // how the client's first message begins: p, n or y; 0: it has not come
	nonce        string // r= and the nonce of both
	conversation *scram.ServerConversation
	done, failed bool
}

// NewServer begins an exchange with a client whose user has this verifier. A zero Binding offers none.
func NewServer(v Verifier, b Binding) *Server { return &Server{verifier: v, binding: b} }

// Mechanisms are what the client may choose, in the order of PostgreSQL.
func (s *Server) Mechanisms() []string {
	if s.binding.Binds() {
		return []string{Plus, Plain}
	}
	return []string{Plain}
}

// Choose is what the client has chosen.
func (s *Server) Choose(mechanism string) error {
	if mechanism != Plain && (mechanism != Plus || !s.binding.Binds()) {
		return violation("client selected an invalid SASL authentication mechanism", "")
	}
	s.mechanism = mechanism
	return nil
}

// Done says that the client has proved that it knows the password, and that Step has given the server's last message.
func (s *Server) Done() bool { return s.done }

// Step takes a message of the client and gives the answer. An error is ErrProof or an *Error, and ends the exchange.
func (s *Server) Step(message []byte) (answer []byte, err error) {
	switch {
	case s.mechanism == "" || s.done || s.failed:
		return nil, violation("a message of SCRAM where none is expected", "")
	case len(message) == 0:
		err = malformed("The message is empty.")
	case len(message) > maxMessage:
		err = violation("invalid message length", "")
	case bytes.IndexByte(message, 0) >= 0:
		err = malformed("Message length does not match input length.")
	case s.conversation == nil:
		answer, err = s.first(string(message))
	default:
		answer, err = s.last(string(message))
	}
	s.failed = err != nil
	return answer, err
}

// first reads the client's first message. What PostgreSQL looks at, and the library otherwise or not at all, it looks
// at before the library.
func (s *Server) first(message string) ([]byte, error) {
	if err := s.checkFlag(message); err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(message, ",")
	bare, none := strings.CutPrefix(rest, ",")
	switch {
	case strings.HasPrefix(rest, "a"):
		return nil, &Error{SQLSTATE: "0A000", Message: "client uses authorization identity, but it is not supported"}
	case !none:
		return nil, malformed("Unexpected attribute in client-first-message.")
	case strings.HasPrefix(bare, "m"):
		return nil, &Error{SQLSTATE: "0A000", Message: "client requires an unsupported SCRAM extension"}
	}
	_, rest, _ = strings.Cut(bare, ",") // behind the name
	nonce, _, _ := strings.Cut(rest, ",")
	if !printable(nonce) {
		return nil, violation("non-printable characters in SCRAM nonce", "")
	}
	s.flag = message[0]
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) {
		return s.verifier.stored, nil // whatever name SCRAM has
	})
	if err != nil {
		return nil, err
	}
	s.conversation = server.NewConversation()
	if s.mechanism == Plus {
		s.conversation = server.NewConversationWithChannelBindingRequired(s.binding.to)
	}
	answer, err := s.conversation.Step(message)
	if err != nil {
		return nil, malformed("A name or a nonce is missing in client-first-message, or is not spelled as RFC 5802 " +
			"has it.")
	}
	s.nonce, _, _ = strings.Cut(answer, ",")
	return []byte(answer), nil
}

// printable is PostgreSQL's word for what a nonce may have.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < 0x21 || r > 0x7e })
}

// checkFlag reads what the client thinks of channel binding.
func (s *Server) checkFlag(message string) error {
	flag, _, _ := strings.Cut(message, ",")
	kind, binds := strings.CutPrefix(flag, "p=")
	switch {
	case binds && s.mechanism != Plus:
		return malformed("The client selected SCRAM-SHA-256 without channel binding, " +
			"but the SCRAM message includes channel binding data.")
	case binds && kind != string(scram.ChannelBindingTLSServerEndpoint):
		if !printable(kind) {
			kind = "…"
		}
		return violation(`unsupported SCRAM channel-binding type "`+kind+`"`, "")
	case binds:
		return nil
	case flag != "n" && flag != "y":
		return malformed("Unexpected channel-binding flag.")
	case s.mechanism == Plus:
		return malformed("The client selected SCRAM-SHA-256-PLUS, " +
			"but the SCRAM message does not include channel binding data.")
	case flag == "y" && s.binding.Binds():
		return &Error{
			"28000", "SCRAM channel binding negotiation error",
			"The client supports SCRAM channel binding but thinks the server does not.  " +
				"However, this server does support channel binding.",
		}
	}
	return nil
}

// last reads the client's proof.
func (s *Server) last(message string) ([]byte, error) {
	answer, err := s.conversation.Step(message)
	switch {
	case err == nil && !s.verifier.mock:
		s.done = true
		return []byte(answer), nil
	case err == nil || answer == scram.ErrInvalidProof:
		return nil, ErrProof
	case answer == scram.ErrChannelBindingsDontMatch && s.flag == 'p':
		return nil, &Error{SQLSTATE: "28000", Message: "SCRAM channel binding check failed"}
	case answer == scram.ErrChannelBindingsDontMatch:
		return nil, violation("unexpected SCRAM channel-binding attribute in client-final-message", "")
	case answer == scram.ErrOtherError && !strings.Contains(message, ","+s.nonce+","):
		return nil, violation("invalid SCRAM response", "Nonce does not match.")
	}
	return nil, malformed("The client-final-message has no nonce, no proof, or something behind the proof.")
}
