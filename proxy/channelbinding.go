package proxy

import (
	"bytes"
	"encoding/binary"

	"pgflurry/proxy/scram"
	"pgflurry/proxy/wire"
)

// SCRAM's channel binding ties a login to the certificate that the client sees,
// https://www.postgresql.org/docs/current/sasl-authentication.html. A proxy that ends TLS shows its own certificate. So
// a relayed login with binding fails, unless both sides of the proxy show the same certificate. The proxy therefore
// removes the mechanism with binding (PLUS) from upstream's offer. The client's first SCRAM message begins with a flag:
//
//	n  it cannot bind, or must not     upstream accepts it
//	y  it could bind, and believes     upstream would call it a downgrade attack, as it must. The proxy ends the
//	   that the server cannot          session with a hint instead, before upstream counts a failed login
//
// A client without TLS sends n.

// authRequest splits an Authentication message. kind is -1 if the message is too short to be one.
func authRequest(body []byte) (kind int, rest []byte) {
	if len(body) < 4 {
		return -1, nil
	}
	return int(binary.BigEndian.Uint32(body)), body[4:]
}

// relayAuthentication relays an authentication request, without PLUS where binding cannot work.
func (s *session) relayAuthentication(body []byte) (relay bool, err error) {
	kind, mechanisms := authRequest(body)
	if kind == wire.AuthDone {
		s.loggedIn()
	}
	if kind != wire.AuthSASL || s.keepsBinding || s.conversation.Started() {
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

func authMessage(kind int, parts ...[]byte) []byte {
	b, at := wire.Begin(nil, wire.BackendAuthentication)
	b = binary.BigEndian.AppendUint32(b, uint32(kind))
	return wire.End(append(b, bytes.Join(parts, nil)...), at)
}

// checkBinding checks a client's first SCRAM message after an offer without PLUS.
func (s *session) checkBinding(body []byte) error {
	if !s.bindingCut.Load() || s.conversation.Started() {
		return nil
	}
	mechanism, first := wire.CutName(body)
	if string(mechanism) == scram.Plus || string(mechanism) == scram.Plain && len(first) > 4 && first[4] == 'y' {
		return clientError{code: failBinding}
	}
	return nil
}
