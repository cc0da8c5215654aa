package proxy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"

	"pgflurry/proxy/pgtls"
)

// Codes of the first packet, https://www.postgresql.org/docs/current/protocol-message-formats.html.
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSSENC = 80877104
	// maxStartup is PostgreSQL's own limit in bytes: MAX_STARTUP_PACKET_LENGTH, and the length itself.
	maxStartup = 10000 + 4
	// tlsHandshake is the first byte of a client that starts TLS without asking.
	tlsHandshake = 0x16
)

// opening is what a client opened its connection with, once encryption is settled: a CancelRequest or a StartupMessage.
type opening struct {
	raw         []byte // the packet, to be relayed unchanged
	cancel      bool
	user        string
	database    string
	replication bool
}

// readOpening reads first packets until one settles what the connection is for, and returns the connection to go on with,
// which is inside TLS if the client asked for it. GSSENCRequest is refused with N, and so is SSLRequest without an offer;
// each may come once, in any order. It reads exactly the packets: nothing is buffered when encryption or the relay begins,
// so what a client (or somebody in between) sends in plain text behind an SSLRequest is taken for a TLS record, and refused.
// io.EOF before the first byte is a probe and comes back as io.EOF.
func readOpening(conn net.Conn, offer *pgtls.Client) (net.Conn, opening, error) {
	first := make([]byte, 1)
	if _, err := io.ReadFull(conn, first); err != nil {
		return conn, opening{}, err
	}
	if first[0] == tlsHandshake {
		var err error
		if conn, err = offer.AcceptDirect(conn, first); err != nil {
			if err == pgtls.ErrNoALPN {
				err = clientError{code: failALPN}
			}
			return conn, opening{}, err
		}
		first = nil
	}
	var asked [2]bool
	for {
		raw, err := readPacket(conn, first)
		if err != nil {
			return conn, opening{}, err
		}
		first = nil
		code := binary.BigEndian.Uint32(raw[4:])
		if code != codeSSL && code != codeGSSENC {
			o, err := parseOpening(raw, code)
			return conn, o, err
		}
		which := &asked[code-codeSSL]
		if err := encryptionRequest(conn, raw, *which); err != nil {
			return conn, opening{}, err
		}
		*which = true
		if conn, err = answerEncryption(conn, code, offer); err != nil {
			return conn, opening{}, err
		}
	}
}

// encryptionRequest refuses a request for encryption that cannot be meant.
func encryptionRequest(conn net.Conn, raw []byte, again bool) error {
	_, inside := conn.(pgtls.Conn)
	switch {
	case len(raw) != 8:
		return clientError{failProtocol, fmt.Errorf("encryption request of %d bytes; expected 8", len(raw))}
	case again:
		return clientError{failProtocol, fmt.Errorf("encryption request %d was sent twice", binary.BigEndian.Uint32(raw[4:]))}
	case inside:
		return clientError{failProtocol, fmt.Errorf("encryption request %d inside TLS", binary.BigEndian.Uint32(raw[4:]))}
	}
	return nil
}

func answerEncryption(conn net.Conn, code uint32, offer *pgtls.Client) (net.Conn, error) {
	if code == codeGSSENC || offer == nil {
		_, err := conn.Write([]byte{'N'})
		return conn, err
	}
	if _, err := conn.Write([]byte{'S'}); err != nil {
		return conn, err
	}
	return offer.Accept(conn, nil)
}

// parseOpening reads the packet that settles what the connection is for.
func parseOpening(raw []byte, code uint32) (opening, error) {
	switch {
	case code == codeCancel:
		// A process ID and a key of 4 to 256 bytes (protocol 3.2).
		if len(raw) < 16 || len(raw) > 12+256 {
			return opening{}, clientError{failProtocol, fmt.Errorf("CancelRequest of %d bytes; expected 16 to 268", len(raw))}
		}
		return opening{raw: raw, cancel: true}, nil
	case code>>16 != 3:
		return opening{}, clientError{failVersion, fmt.Errorf("protocol %d.%d", code>>16, code&0xffff)}
	}
	return parseStartup(raw)
}

// readPacket reads one packet, the first bytes of which may have been read.
func readPacket(conn net.Conn, begun []byte) ([]byte, error) {
	var head [8]byte
	n := copy(head[:], begun)
	if n == 0 {
		if _, err := io.ReadFull(conn, head[:1]); err != nil {
			return nil, err
		}
		n = 1
	}
	if _, err := io.ReadFull(conn, head[n:]); err != nil {
		return nil, tornPacket{err}
	}
	length := binary.BigEndian.Uint32(head[:])
	if length < 8 || length > maxStartup {
		return nil, clientError{failProtocol, fmt.Errorf("first packet claims %d bytes; expected 8 to %d", length, maxStartup)}
	}
	raw := make([]byte, length)
	copy(raw, head[:])
	if _, err := io.ReadFull(conn, raw[8:]); err != nil {
		return nil, tornPacket{err}
	}
	return raw, nil
}

// tornPacket is a connection that ended inside its first packet; one that ended before it is a probe.
type tornPacket struct{ cause error }

func (e tornPacket) Error() string {
	return "the connection ended inside the first packet: " + e.cause.Error()
}
func (e tornPacket) Unwrap() error { return e.cause }

// parseStartup reads the parameters that decide whether the session may be answered. The packet is relayed as it came, so
// PostgreSQL judges everything else in it.
func parseStartup(raw []byte) (opening, error) {
	o := opening{raw: raw}
	rest := raw[8:]
	for len(rest) > 0 && rest[0] != 0 {
		name, value, after, ok := cutParameter(rest)
		if !ok {
			return opening{}, clientError{failProtocol, fmt.Errorf("startup packet has a parameter without an end")}
		}
		switch name {
		case "user":
			o.user = value
		case "database":
			o.database = value
		case "replication":
			o.replication = !isFalse(value)
		}
		rest = after
	}
	if len(rest) != 1 {
		return opening{}, clientError{failProtocol, fmt.Errorf("startup packet has %d bytes where its terminator was expected", len(rest))}
	}
	if o.database == "" {
		o.database = o.user
	}
	return o, nil
}

func cutParameter(b []byte) (name, value string, rest []byte, ok bool) {
	n, b, ok := bytes.Cut(b, []byte{0})
	if !ok {
		return "", "", nil, false
	}
	v, b, ok := bytes.Cut(b, []byte{0})
	return string(n), string(v), b, ok
}

// isFalse: what PostgreSQL reads as false (parse_bool: any prefix of a word that is unique). Anything else counts as a
// replication session, which is never answered.
func isFalse(value string) bool {
	v := strings.ToLower(value)
	return v != "" && (v == "0" || v == "of" || v == "off" || strings.HasPrefix("false", v) || strings.HasPrefix("no", v))
}
