package proxy

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/xdg-go/scram"

	"pgflurry/proxy/frame"
	"pgflurry/proxy/pgtls"
	"pgflurry/proxy/wire"
)

// logIn answers upstream's requests for a password with the one it asks the client for (Settings.AskPassword). It
// returns at the first message that is no such request; that stays in the inbox, and the relay goes on with it. The
// session begins, upstream refuses the password in its own words, or it wants what only the client can give.
//
// Of the password nothing is kept: the buffers it came through are wiped, and what the SCRAM library copies is garbage
// when logIn returns.
func (s *session) logIn() error {
	var password []byte
	defer func() { clear(password) }()
	for {
		f, err := s.fromUpstream.Await()
		switch kind, rest := authRequest(f.Body); {
		case err != nil:
			return s.upstreamGone(err)
		case f.Kind == wire.BackendNegotiateVersion || f.Kind == wire.BackendNoticeResponse:
			if err := s.passOn(f.Size); err != nil {
				return err
			}
			continue
		case f.Kind != wire.BackendAuthentication || !wantsPassword(kind, rest):
			return nil
		default:
			challenge := slices.Clone(rest)
			s.fromUpstream.Drop(f.Size)
			if password == nil {
				if password, err = s.askForPassword(); err != nil {
					return err
				}
			}
			if err := s.prove(kind, challenge, password); err != nil {
				return err
			}
		}
	}
}

// wantsPassword says that a password answers the request.
// Of SASL, OAuth and what may come are between client and server.
func wantsPassword(kind int, mechanisms []byte) bool {
	return kind == wire.AuthCleartext || kind == wire.AuthMD5 ||
		kind == wire.AuthSASL && bytes.Contains(mechanisms, []byte(scramPlain))
}

// prove answers one request for a password.
func (s *session) prove(kind int, challenge, password []byte) error {
	switch kind {
	case wire.AuthCleartext:
		if s.exposed() {
			return clientError{code: failCleartext}
		}
		return s.sendPassword(bytes.Join([][]byte{password, {0}}, nil))
	case wire.AuthMD5:
		if len(challenge) != 4 {
			return clientError{failProof, fmt.Errorf("an md5 salt of %d bytes; expected 4", len(challenge))}
		}
		return s.sendPassword(md5Proof(s.opening.user, password, challenge))
	}
	return s.proveSCRAM(challenge, password)
}

// exposed says that others can read what is sent to upstream.
func (s *session) exposed() bool {
	conn := s.upstream.(upstreamConn).Conn
	_, inside := conn.(pgtls.Conn)
	address, tcp := conn.RemoteAddr().(*net.TCPAddr)
	return !inside && tcp && !address.IP.IsLoopback()
}

// md5Proof is what PostgreSQL's md5 method asks for:
// the hash of the hash that it stores, with a salt of this connection.
func md5Proof(user string, password, salt []byte) []byte {
	both := bytes.Join([][]byte{password, []byte(user)}, nil) // in one piece, so that there is no other to wipe
	defer clear(both)
	stored := md5.Sum(both)
	proof := md5.Sum(append([]byte(hex.EncodeToString(stored[:])), salt...))
	return append([]byte("md5"+hex.EncodeToString(proof[:])), 0)
}

// askForPassword asks the client for its password in clear text.
func (s *session) askForPassword() ([]byte, error) {
	if err := s.toClient.Write(authMessage(wire.AuthCleartext)); err != nil {
		return nil, err
	}
	kind, body, err := s.fromClient.Secret()
	switch {
	case errors.As(err, new(frame.LengthError)):
		return nil, clientError{failProtocol, err}
	case errors.Is(err, os.ErrDeadlineExceeded): // an interrupt
		return nil, clientError{code: failDraining}
	case err != nil:
		return nil, err
	case kind == wire.FrontendTerminate:
		return nil, errTerminated
	case kind != wire.FrontendPassword || bytes.IndexByte(body, 0) != len(body)-1:
		err := fmt.Errorf("message %q of %d bytes; expected a password", kind, len(body))
		return nil, clientError{failProtocol, err}
	}
	return body[:len(body)-1], nil
}

// sendPassword sends a PasswordMessage, SASLInitialResponse or SASLResponse, and wipes it.
func (s *session) sendPassword(contents []byte) error {
	message, at := wire.Begin(make([]byte, 0, frame.HeaderSize+len(contents)), wire.FrontendPassword)
	message = wire.End(append(message, contents...), at)
	defer clear(message)
	defer clear(contents)
	_, err := s.upstream.Write(message)
	return err
}

// passOn relays one message of upstream, before the relay does.
func (s *session) passOn(size int) error {
	in := s.fromUpstream
	err := s.toClient.Write(in.Unread()[:size])
	in.Drop(size)
	return err
}

// proveSCRAM does SCRAM-SHA-256, bound to upstream's certificate where upstream offers that.
// https://www.postgresql.org/docs/current/sasl-authentication.html
func (s *session) proveSCRAM(mechanisms, password []byte) error {
	mechanism, conversation, err := s.newSCRAM(mechanisms, string(password))
	if err != nil {
		return clientError{failProof, err}
	}
	first, err := conversation.Step("")
	if err != nil {
		return clientError{failProof, err}
	}
	opening := append([]byte(mechanism), 0)
	opening = binary.BigEndian.AppendUint32(opening, uint32(len(first)))
	if err := s.sendPassword(append(opening, first...)); err != nil {
		return err
	}
	for _, expected := range []int{wire.AuthSASLContinue, wire.AuthSASLFinal} {
		f, err := s.fromUpstream.Await()
		if err != nil {
			return s.upstreamGone(err)
		}
		if f.Kind == wire.BackendErrorResponse {
			return nil // upstream refuses the password; the relay says so
		}
		kind, said := authRequest(f.Body)
		if f.Kind != wire.BackendAuthentication || kind != expected {
			err := fmt.Errorf("message %q with request %d; expected %d of SCRAM", f.Kind, kind, expected)
			return clientError{failProof, err}
		}
		if count := iterations(string(said)); count > maxIterations {
			err := fmt.Errorf("SCRAM with %d iterations; expected at most %d", count, maxIterations)
			return clientError{failProof, err}
		}
		answer, err := conversation.Step(string(said))
		if err != nil {
			return clientError{failProof, err}
		}
		s.fromUpstream.Drop(f.Size)
		if expected == wire.AuthSASLContinue {
			if err := s.sendPassword([]byte(answer)); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxIterations bounds what an answer to SCRAM costs, since what asks may be no PostgreSQL: a third of a second.
// PostgreSQL's default is 4096. Only the end of the computation ends it, so the login timeout would not.
const maxIterations = 1_000_000

// iterations reads the count in a server's first SCRAM message, r=nonce,s=salt,i=count;
// 0 where there is none that is a number.
func iterations(said string) int {
	fields := strings.Split(said, ",")
	if len(fields) < 3 {
		return 0
	}
	count, err := strconv.Atoi(strings.TrimPrefix(fields[2], "i="))
	if err != nil {
		return 0 // the library says what is wrong with it
	}
	return count
}

// newSCRAM chooses the mechanism as libpq does.
// PostgreSQL takes the user of the startup packet and none from SCRAM.
func (s *session) newSCRAM(
	mechanisms []byte, password string,
) (mechanism string, c *scram.ClientConversation, err error) {
	without, plus := withoutPlus(mechanisms)
	if !bytes.Contains(append([]byte{0}, without...), []byte("\x00"+scramPlain+"\x00")) {
		return "", nil, fmt.Errorf("upstream offers %q; expected %s", mechanisms, scramPlain)
	}
	client, err := scram.SHA256.NewClientUnprepped("", preparePassword(password), "")
	if err != nil {
		return "", nil, err
	}
	client.WithMinIterations(1) // the server's setting scram_iterations
	leg, inside := s.upstream.(upstreamConn).Conn.(pgtls.Conn)
	if !inside {
		return scramPlain, client.NewConversation(), nil
	}
	if !plus {
		return scramPlain, client.NewConversationAdvertisingChannelBinding(), nil
	}
	state := leg.ConnectionState()
	binding, err := scram.NewTLSServerEndpointBinding(&state)
	if err != nil { // undefined for some signatures, such as Ed25519
		return scramPlain, client.NewConversation(), nil
	}
	return scramPlus, client.NewConversationWithChannelBinding(binding), nil
}

// loginEnded ends a session whose login failed before upstream decided over it.
func (s *session) loginEnded(err error) {
	if errors.As(err, new(upstreamError)) {
		err = s.upstreamGone(err)
	}
	var own clientError
	if errors.As(err, &own) {
		s.because(own.code.reason())
	}
	if errors.As(err, &own) && !s.leaving.Swap(true) { // else it was killed, and has been told
		s.log.Warn("session ended by the proxy", "cause", own)
		s.farewell(own.code)
	}
	s.upstream.Close()
	s.client.Close()
}
