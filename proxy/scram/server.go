package scram

import (
	"bytes"
	"errors"
	"strings"

	"github.com/xdg-go/scram"

	"pgflurry/internal/fault"
)

// maxMessage is the longest message of the exchange, in bytes. PostgreSQL has the same limit. A client's messages have
// 60 and 130.
const maxMessage = 1024

// ErrProof means that the client does not know the password, or that there is no such user.
var ErrProof = errors.New("the client's proof of the password is wrong")

func violation(message, detail string) error {
	return fault.Error{SQLState: "08P01", Message: message, Detail: detail}
}

func malformed(detail string) error { return violation("malformed SCRAM message", detail) }

// Server is the server's side of one exchange: Choose, then Step for each message of the client, until Done. One
// goroutine uses it.
type Server struct {
	verifier     Verifier
	binding      Binding
	mechanism    string
	flag         byte   // first letter of the client's first message: p, n or y; 0 before it
	nonce        string // r= and the nonce of both sides
	conversation *scram.ServerConversation
	done, failed bool
}

// NewServer begins an exchange with a client whose user has this verifier. With a zero Binding it does not offer Plus.
func NewServer(v Verifier, b Binding) *Server { return &Server{verifier: v, binding: b} }

// Mechanisms are the mechanisms that the client may choose, in PostgreSQL's order.
func (s *Server) Mechanisms() []string {
	if s.binding.Binds() {
		return []string{Plus, Plain}
	}
	return []string{Plain}
}

// Choose sets the mechanism that the client has chosen.
func (s *Server) Choose(mechanism string) error {
	if mechanism != Plain && (mechanism != Plus || !s.binding.Binds()) {
		return violation("client selected an invalid SASL authentication mechanism", "")
	}
	s.mechanism = mechanism
	return nil
}

// Done says that the client has proved that it knows the password, and that Step has returned the server's last
// message.
func (s *Server) Done() bool { return s.done }

// Step takes a message of the client and returns the answer. An error is ErrProof, or a fault.Error
// with PostgreSQL's words. It ends the exchange.
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

// first reads the client's first message. Before the library reads it, first makes those checks of PostgreSQL that the
// library does differently or not at all.
func (s *Server) first(message string) ([]byte, error) {
	if err := s.checkFlag(message); err != nil {
		return nil, err
	}
	_, rest, _ := strings.Cut(message, ",")
	bare, none := strings.CutPrefix(rest, ",")
	switch {
	case strings.HasPrefix(rest, "a"):
		return nil, fault.New("0A000", "client uses authorization identity, but it is not supported", "")
	case !none:
		return nil, malformed("Unexpected attribute in client-first-message.")
	case strings.HasPrefix(bare, "m"):
		return nil, fault.New("0A000", "client requires an unsupported SCRAM extension", "")
	}
	_, rest, _ = strings.Cut(bare, ",") // after the name
	nonce, _, _ := strings.Cut(rest, ",")
	if !printable(nonce) {
		return nil, violation("non-printable characters in SCRAM nonce", "")
	}
	s.flag = message[0]
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) {
		return s.verifier.stored, nil // for any name in SCRAM
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

// printable says whether PostgreSQL accepts a text as a nonce.
func printable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < 0x21 || r > 0x7e })
}

// checkFlag checks the client's position on channel binding.
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
		return fault.Error{
			SQLState: "28000", Message: "SCRAM channel binding negotiation error",
			Detail: "The client supports SCRAM channel binding but thinks the server does not.  " +
				"However, this server does support channel binding.",
		}
	}
	return nil
}

// last checks the client's proof.
func (s *Server) last(message string) ([]byte, error) {
	answer, err := s.conversation.Step(message)
	switch {
	case err == nil && !s.verifier.mock:
		s.done = true
		return []byte(answer), nil
	case err == nil || answer == scram.ErrInvalidProof:
		return nil, ErrProof
	case answer == scram.ErrChannelBindingsDontMatch && s.flag == 'p':
		return nil, fault.New("28000", "SCRAM channel binding check failed", "")
	case answer == scram.ErrChannelBindingsDontMatch:
		return nil, violation("unexpected SCRAM channel-binding attribute in client-final-message", "")
	case answer == scram.ErrOtherError && !strings.Contains(message, ","+s.nonce+","):
		return nil, violation("invalid SCRAM response", "Nonce does not match.")
	}
	return nil, malformed("The client-final-message has no nonce, no proof, or something behind the proof.")
}
