package proxy

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"

	"pgflurry/proxy/internal/admission"
	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/scram"
)

// login is what the proxy does of a session's login itself, before the relay begins.
type login struct {
	upstream     *upstreamConn
	fromUpstream *frame.Inbox
	fromClient   *frame.Inbox
	toClient     *frame.Writer
	user         string
	connection   *admission.Connection
}

// logIn answers upstream's password requests with the password that it asks the client for (Settings.AskPassword). It
// returns at the first message that is no such request, and leaves that in the inbox for the relay. Then either the
// session begins, or upstream refuses the password in its own words, or it wants what only the client can give.
//
// The proxy keeps nothing of the password. It wipes the buffers that the password came through. The copies of the SCRAM
// library are garbage when logIn returns.
func (l *login) logIn() error {
	var password []byte
	defer func() { clear(password) }()
	for {
		f, err := l.fromUpstream.Await()
		switch kind, rest := authRequest(f.Body); {
		case isOldError(err, l.toClient, l.fromUpstream):
			return nil
		case err != nil:
			return upstreamReadError{err}
		case f.Kind == wire.BackendNegotiateVersion || f.Kind == wire.BackendNoticeResponse:
			if err := l.passOn(f.Size); err != nil {
				return err
			}
			continue
		case f.Kind != wire.BackendAuthentication || !wantsPassword(kind, rest):
			return nil
		default:
			challenge := slices.Clone(rest)
			l.fromUpstream.Drop(f.Size)
			if password == nil {
				l.connection.Asked()
				if password, err = l.askForPassword(); err != nil {
					return err
				}
				l.connection.Answered()
			}
			if err := l.prove(kind, challenge, password); err != nil {
				return err
			}
		}
	}
}

// wantsPassword says whether a password answers the request. Other SASL mechanisms, such as OAuth, are between client
// and server.
func wantsPassword(kind int, mechanisms []byte) bool {
	return kind == wire.AuthCleartext || kind == wire.AuthMD5 ||
		kind == wire.AuthSASL && bytes.Contains(mechanisms, []byte(scram.Plain))
}

// prove answers one password request.
func (l *login) prove(kind int, challenge, password []byte) error {
	switch kind {
	case wire.AuthCleartext:
		if l.upstream.exposed() {
			return clientError{failure: failCleartext}
		}
		return l.sendPassword(bytes.Join([][]byte{password, {0}}, nil))
	case wire.AuthMD5:
		if len(challenge) != 4 {
			return clientError{failProof, fmt.Errorf("an md5 salt of %d bytes; expected 4", len(challenge))}
		}
		return l.sendPassword(md5Proof(l.user, password, challenge))
	}
	return l.proveSCRAM(challenge, password)
}

// md5Proof is the answer of PostgreSQL's md5 method: the stored hash of password and user, hashed again with the salt
// of this connection.
func md5Proof(user string, password, salt []byte) []byte {
	both := bytes.Join([][]byte{password, []byte(user)}, nil) // in one piece, so that nothing else needs wiping
	defer clear(both)
	stored := md5.Sum(both)
	proof := md5.Sum(append([]byte(hex.EncodeToString(stored[:])), salt...))
	return append([]byte("md5"+hex.EncodeToString(proof[:])), 0)
}

// askForPassword asks the client for its password in clear text.
func (l *login) askForPassword() ([]byte, error) {
	if err := l.toClient.Write(authMessage(wire.AuthCleartext)); err != nil {
		return nil, err
	}
	kind, body, err := l.fromClient.Secret()
	switch {
	case errors.As(err, new(frame.LengthError)):
		return nil, clientError{failProtocol, err}
	case errors.Is(err, os.ErrDeadlineExceeded): // an interrupt
		return nil, clientError{failure: failDraining}
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
func (l *login) sendPassword(contents []byte) error {
	message, at := wire.Begin(make([]byte, 0, frame.HeaderSize+len(contents)), wire.FrontendPassword)
	message = wire.End(append(message, contents...), at)
	defer clear(message)
	defer clear(contents)
	_, err := l.upstream.Write(message)
	return err
}

// passOn relays one message of upstream before the relay begins.
func (l *login) passOn(size int) error {
	in := l.fromUpstream
	err := l.toClient.Write(in.Unread()[:size])
	in.Drop(size)
	return err
}

// proveSCRAM does SCRAM-SHA-256, bound to upstream's certificate if upstream offers that.
// https://www.postgresql.org/docs/current/sasl-authentication.html
func (l *login) proveSCRAM(mechanisms, password []byte) error {
	client, err := scram.NewClient(mechanisms, string(password), l.upstream.tls())
	if err != nil {
		return clientError{failProof, err}
	}
	first, err := client.Step("")
	if err != nil {
		return clientError{failProof, err}
	}
	initial := append([]byte(client.Mechanism()), 0)
	initial = binary.BigEndian.AppendUint32(initial, uint32(len(first)))
	if err := l.sendPassword(append(initial, first...)); err != nil {
		return err
	}
	for _, expected := range []int{wire.AuthSASLContinue, wire.AuthSASLFinal} {
		f, err := l.fromUpstream.Await()
		if err != nil {
			return upstreamReadError{err}
		}
		if f.Kind == wire.BackendErrorResponse {
			return nil // upstream refuses the password; the relay passes that on
		}
		kind, said := authRequest(f.Body)
		if f.Kind != wire.BackendAuthentication || kind != expected {
			err := fmt.Errorf("message %q with request %d; expected %d of SCRAM", f.Kind, kind, expected)
			return clientError{failProof, err}
		}
		answer, err := client.Step(string(said))
		if err != nil {
			return clientError{failProof, err}
		}
		l.fromUpstream.Drop(f.Size)
		if expected == wire.AuthSASLContinue {
			if err := l.sendPassword([]byte(answer)); err != nil {
				return err
			}
		}
	}
	return nil
}

// awaitProof returns once upstream has asked the client for a proof, or refuses it. It leaves that message in the
// inbox. Until then upstream gets nothing from the client, not even what came with the startup packet.
func (l *login) awaitProof() error {
	for {
		f, err := l.fromUpstream.Await()
		kind, _ := authRequest(f.Body)
		switch {
		case err != nil:
			return upstreamReadError{err}
		case f.Kind == wire.BackendNegotiateVersion || f.Kind == wire.BackendNoticeResponse:
			if err := l.passOn(f.Size); err != nil {
				return err
			}
		case f.Kind == wire.BackendAuthentication && kind == wire.AuthDone:
			return clientError{failUnproven, errUnproven}
		default:
			return nil
		}
	}
}
