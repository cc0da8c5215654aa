package proxy

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/scram"
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

func authMessage(kind int, parts ...[]byte) []byte {
	b, at := wire.Begin(nil, wire.BackendAuthentication)
	b = binary.BigEndian.AppendUint32(b, uint32(kind))
	return wire.End(append(b, bytes.Join(parts, nil)...), at)
}

// binding says what a session's SCRAM can be bound to.
type binding struct {
	works bool        // both peers see the same certificate, so channel binding works across the proxy
	cut   atomic.Bool // the proxy removed channel binding from upstream's offer
}

// offer is what the client sees of upstream's offer. cut says whether that is less.
func (b *binding) offer(mechanisms []byte) (offered []byte, cut bool, err error) {
	if b.works {
		return mechanisms, false, nil
	}
	offered, cut = scram.WithoutPlus(mechanisms)
	if cut && len(offered) == 0 {
		return nil, false, clientError{failure: failBinding}
	}
	if cut {
		b.cut.Store(true)
	}
	return offered, cut, nil
}

// check checks a client's first SCRAM message after an offer without PLUS.
func (b *binding) check(body []byte) error {
	if !b.cut.Load() {
		return nil
	}
	mechanism, first := wire.CutName(body)
	if string(mechanism) == scram.Plus || string(mechanism) == scram.Plain && len(first) > 4 && first[4] == 'y' {
		return clientError{failure: failBinding}
	}
	return nil
}
