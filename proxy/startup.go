package proxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"pgflurry/proxy/internal/wire"
	"pgflurry/proxy/pgtls"
)

// Codes of the first packet, beside wire.CancelRequest:
// https://www.postgresql.org/docs/current/protocol-message-formats.html.
const (
	codeSSL    = 80877103
	codeGSSENC = 80877104
	// tlsHandshake is the first byte of a client that starts TLS without asking.
	tlsHandshake = 0x16
)

// startupPacket is what the client wants, from the first packet after encryption was agreed on or refused.
type startupPacket struct {
	wire.Startup
	raw     []byte // the packet, to be relayed unchanged
	cancel  bool   // it is a CancelRequest
	refused bool   // PostgreSQL will refuse it, in its own words
}

// readStartup reads first packets until one says what the connection is for. It returns the connection to go on with:
// TLS on top of conn if the client asked for it. It refuses GSSENCRequest with N, and without an offer SSLRequest, too.
// Each may come once, in any order.
//
// It never believes what comes in plain text after a request for encryption, from the client or from somebody in
// between. After an N it refuses that, as PostgreSQL does. After an S it takes it for a TLS record. io.EOF before the
// first byte is a probe, and comes back as io.EOF.
func readStartup(conn net.Conn, offer tlsOffer) (net.Conn, startupPacket, error) {
	var asked [2]bool
	for first := true; ; first = false {
		head, err := readHead(conn, first)
		if err == nil && first && head[0] == tlsHandshake {
			conn, err = offer.accept(conn, head, true)
			head = nil
		}
		if err == nil && head == nil {
			head, err = readHead(conn, false)
		}
		if err != nil {
			return conn, startupPacket{}, err
		}
		raw, surplus, err := readRest(conn, head)
		if err != nil {
			return conn, startupPacket{}, err
		}
		code := binary.BigEndian.Uint32(raw[4:])
		if code != codeSSL && code != codeGSSENC {
			return conn, parseFirst(raw, code), nil
		}
		which := &asked[code-codeSSL]
		if _, inside := conn.(pgtls.Conn); inside || *which {
			err := fmt.Errorf("encryption request %d inside TLS, or sent twice", code)
			return conn, startupPacket{}, clientError{failEncryptionTwice, err}
		}
		*which = true
		if conn, err = answerEncryption(conn, code, surplus, offer); err != nil {
			return conn, startupPacket{}, err
		}
	}
}

// answerEncryption answers a request for encryption. surplus came right behind the request.
func answerEncryption(conn net.Conn, code uint32, surplus []byte, offer tlsOffer) (net.Conn, error) {
	refused := code == codeGSSENC || offer.Client == nil
	answer := []byte{'S'}
	if refused {
		answer = []byte{'N'}
	}
	if _, err := conn.Write(answer); err != nil {
		return conn, err
	}
	switch {
	case !refused:
		return offer.accept(conn, surplus, false)
	case len(surplus) > 0 && code == codeGSSENC:
		return conn, clientError{failure: failAfterGSSENC}
	case len(surplus) > 0:
		return conn, clientError{failure: failAfterSSL}
	}
	return conn, nil
}

// parseFirst reads the packet that says what the connection is for. It has no errors, because PostgreSQL judges the
// packet.
func parseFirst(raw []byte, code uint32) startupPacket {
	if code == wire.CancelRequest {
		return startupPacket{raw: raw, cancel: true}
	}
	wanted, ok := wire.ParseStartup(raw)
	return startupPacket{Startup: wanted, raw: raw, refused: !ok}
}

// lengthSize is the size in bytes of a packet's length.
const lengthSize = 4

// readHead reads the length and the code of a packet, and one byte more if it has come. That byte shows whether
// anything follows a request for encryption; every other packet is longer anyway. An impossible length is an error at
// once. In the first packet, the first byte of TLS is enough.
func readHead(conn net.Conn, first bool) ([]byte, error) {
	head, n := make([]byte, wire.StartupHead+1), 0
	for n < wire.StartupHead {
		m, err := conn.Read(head[n:])
		if n += m; n > 0 && first && head[0] == tlsHandshake {
			return head[:n], nil
		}
		if n >= lengthSize {
			if length := binary.BigEndian.Uint32(head); length < wire.StartupHead || length > wire.MaxStartup {
				return nil, impossibleLength(length)
			}
		}
		switch {
		case n >= wire.StartupHead:
		case err != nil && n > 0:
			return nil, tornPacket{err}
		case err != nil:
			return nil, err
		}
	}
	return head[:n], nil
}

// readRest completes the packet that begins with head. Bytes behind the packet are surplus.
func readRest(conn net.Conn, head []byte) (raw, surplus []byte, err error) {
	raw = make([]byte, binary.BigEndian.Uint32(head))
	n := copy(raw, head)
	if _, err := io.ReadFull(conn, raw[n:]); err != nil {
		return nil, nil, tornPacket{err}
	}
	return raw, head[n:], nil
}

// impossibleLength is a first packet with a length that none can have. Usually it is of another protocol. PostgreSQL
// hangs up without a byte, and so does the proxy.
type impossibleLength uint32

func (e impossibleLength) Error() string {
	return fmt.Sprintf("the first packet claims %d bytes; expected %d to %d",
		uint32(e), wire.StartupHead, wire.MaxStartup)
}

// tornPacket is a connection that ended inside its first packet. One that ended before it is a probe.
type tornPacket struct{ cause error }

func (e tornPacket) Error() string {
	return "the connection ended inside the first packet: " + e.cause.Error()
}
func (e tornPacket) Unwrap() error { return e.cause }

// isProbe recognises a client that connected and left without a byte, as health checks do.
func isProbe(err error) bool {
	return !errors.As(err, new(tornPacket)) && !errors.As(err, new(pgtls.HandshakeError)) &&
		(errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET))
}
