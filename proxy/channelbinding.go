package proxy

import (
	"bytes"
	"encoding/binary"

	"pgflurry/proxy/scram"
	"pgflurry/proxy/wire"
)

// SCRAM's channel binding ties a login to the certificate the client sees,
// https://www.postgresql.org/docs/current/sasl-authentication.html. A proxy that ends TLS shows its own, so that a
// relayed login with binding fails, unless both legs show the same one. So the mechanism with binding (PLUS) is taken
// out of upstream's offer. What a client then answers is told by the flag its first message begins with:
//
//	n  it cannot bind, or shall not    upstream accepts it
//	y  it could, and believes that     upstream would call it an attack, rightly from where it sits. The proxy ends
//	   the server cannot               the session with a hint instead, before upstream counts a failed login
//
// A client without TLS says n.

// authRequest splits an Authentication message; -1 where it is none.
func authRequest(body []byte) (kind int, rest []byte) {
	if len(body) < 4 {
		return -1, nil
	}
	return int(binary.BigEndian.Uint32(body)), body[4:]
}

// relayAuthentication relays a request for authentication, without PLUS where that cannot work.
func (s *session) relayAuthentication(body []byte) (relay bool, err error) {
	kind, mechanisms := authRequest(body)
	if kind == wire.AuthDone {
		s.loggedIn()
	}
	if kind != wire.AuthSASL || s.keepsBinding || s.conversation.started.Load() {
		return true, nil
	}
	offer, cut := scram.WithoutPlus(mechanisms)
	if !cut {
		return true, nil
	}
	if len(offer) == 0 {
		return false, clientError{code: failBinding}
	}
	s.bindingCut.Store(true)
	if err := s.flushReplies(); err != nil {
		return false, err
	}
	message := authMessage(wire.AuthSASL, offer, []byte{0})
	return false, s.toClient.Write(message)
}

// authMessage makes an Authentication message.
func authMessage(kind int, parts ...[]byte) []byte {
	b, at := wire.Begin(nil, wire.BackendAuthentication)
	b = binary.BigEndian.AppendUint32(b, uint32(kind))
	return wire.End(append(b, bytes.Join(parts, nil)...), at)
}

// checkBinding looks at a client's first SCRAM message after an offer that was cut.
func (s *session) checkBinding(body []byte) error {
	if !s.bindingCut.Load() || s.conversation.started.Load() {
		return nil
	}
	mechanism, first := cutName(body)
	if string(mechanism) == scram.Plus || string(mechanism) == scram.Plain && len(first) > 4 && first[4] == 'y' {
		return clientError{code: failBinding}
	}
	return nil
}
