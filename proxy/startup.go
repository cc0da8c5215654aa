package proxy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
)

// Codes of the first packet, https://www.postgresql.org/docs/current/protocol-message-formats.html.
const (
	codeCancel = 80877102
	codeSSL    = 80877103
	codeGSSENC = 80877104
	// maxStartup is PostgreSQL's own limit (MAX_STARTUP_PACKET_LENGTH) in bytes, the length itself included.
	maxStartup = 10000
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

// readOpening reads first packets until one settles what the connection is for. SSLRequest and GSSENCRequest are refused
// with N, each at most once, in any order. It reads exactly the packets, so nothing is buffered when encryption or the
// relay begins. io.EOF before the first byte is a probe and comes back as io.EOF.
func readOpening(conn net.Conn) (opening, error) {
	var asked [2]bool
	for {
		raw, err := readPacket(conn)
		if err != nil {
			return opening{}, err
		}
		code := binary.BigEndian.Uint32(raw[4:])
		switch {
		case (code == codeSSL || code == codeGSSENC) && len(raw) != 8:
			return opening{}, clientError{failProtocol, fmt.Errorf("encryption request of %d bytes; expected 8", len(raw))}
		case code == codeSSL || code == codeGSSENC:
			which := &asked[code-codeSSL]
			if *which {
				return opening{}, clientError{failProtocol, fmt.Errorf("encryption request %d was sent twice", code)}
			}
			*which = true
			if _, err := conn.Write([]byte{'N'}); err != nil {
				return opening{}, err
			}
		case code == codeCancel:
			// A process ID and a key of 4 to 256 bytes (protocol 3.2).
			if len(raw) < 16 || len(raw) > 12+256 {
				return opening{}, clientError{failProtocol, fmt.Errorf("CancelRequest of %d bytes; expected 16 to 268", len(raw))}
			}
			return opening{raw: raw, cancel: true}, nil
		case code>>16 != 3:
			return opening{}, clientError{failVersion, fmt.Errorf("protocol %d.%d", code>>16, code&0xffff)}
		default:
			return parseStartup(raw)
		}
	}
}

func readPacket(conn net.Conn) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(conn, head[:1]); err != nil {
		return nil, err
	}
	if head[0] == tlsHandshake {
		return nil, fmt.Errorf("the client began a TLS handshake, which is not configured") // it could read no plain text
	}
	if _, err := io.ReadFull(conn, head[1:]); err != nil {
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
