package idserver

import (
	"crypto/rand"
	"encoding/binary"

	"pgflurry/proxy/internal/wire"
)

// A cancel request names the key of a session: a process ID and a secret. A session here has no process. The request
// must not go upstream, where the key could belong to another client.
const (
	secretSize     = 4         // bytes
	longSecretSize = 32        // bytes, from longSecrets on
	longSecrets    = 3<<16 | 2 // protocol 3.2, of PostgreSQL 18
	// lowestID keeps process IDs out of the range of real processes.
	lowestID = 1 << 30
)

// issueKey makes the key of a session that has logged in. The process IDs of sessions differ.
func (v *Server) issueKey(s *session, version uint32) (pid int32, secret []byte) {
	secret = make([]byte, secretSize)
	if version >= longSecrets {
		secret = make([]byte, longSecretSize)
	}
	rand.Read(secret) // it never fails
	pid = int32(v.lastPID.Add(1)%lowestID | lowestID)
	v.register.SetKey(s, string(append(binary.BigEndian.AppendUint32(nil, uint32(pid)), secret...)))
	return pid, secret
}

// appendKey writes the BackendKeyData of a session.
func appendKey(b []byte, pid int32, secret []byte) []byte {
	b, at := wire.Begin(b, wire.BackendKeyData)
	b = binary.BigEndian.AppendUint32(b, uint32(pid))
	return wire.End(append(b, secret...), at)
}
