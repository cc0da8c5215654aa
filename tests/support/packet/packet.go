// Package packet makes the first packet of a connection byte for byte, also one that no driver sends.
package packet

import (
	"encoding/binary"
	"strings"
)

// First returns a packet with any code and body.
func First(code uint32, body string) []byte {
	size := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(binary.BigEndian.AppendUint32(size, code), body...)
}

// Startup returns a StartupMessage of any version. pairs are names and values in their order, and need not be pairs.
func Startup(version uint32, pairs ...string) []byte {
	var body strings.Builder
	for _, text := range pairs {
		body.WriteString(text + "\x00")
	}
	return First(version, body.String()+"\x00")
}
