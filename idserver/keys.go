package idserver

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"sync"

	"pgflurry/proxy/wire"
)

// The key of a session is what a request to cancel its statement has to name: a process ID and a secret. A session has
// neither a process nor a statement that takes long, so such a request is taken, and nothing is done. It must not go
// upstream, where the key could be that of somebody else.
const (
	secretSize     = 4  // bytes
	longSecretSize = 32 // the same from protocol 3.2 on, as PostgreSQL 18 has it
	// lowestID keeps process IDs out of the range that those of real processes have.
	lowestID = 1 << 30

	// cancelHead is what a CancelRequest has in front of its secret, in bytes: a length, a code and a process ID.
	cancelHead = 12
)

// keys are those of all sessions. Its methods are safe for concurrent use.
type keys struct {
	mu      sync.Mutex
	secrets map[int32][]byte // by process ID
}

// take makes the key of one more session.
func (k *keys) take(version uint32) (pid int32, secret []byte) {
	secret = make([]byte, secretSize)
	if version >= newestVersion {
		secret = make([]byte, longSecretSize)
	}
	rand.Read(secret) // it never fails
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		var random [4]byte
		rand.Read(random[:])
		pid = int32(binary.BigEndian.Uint32(random[:])%lowestID | lowestID)
		if k.secrets[pid] == nil {
			k.secrets[pid] = secret
			return pid, secret
		}
	}
}

// free gives a key back.
func (k *keys) free(pid int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.secrets, pid)
}

// has says that a CancelRequest names one of the keys.
func (k *keys) has(request []byte) bool {
	if len(request) <= cancelHead || int(binary.BigEndian.Uint32(request)) != len(request) ||
		binary.BigEndian.Uint32(request[4:]) != wire.CancelRequest {
		return false
	}
	k.mu.Lock()
	secret := k.secrets[int32(binary.BigEndian.Uint32(request[8:]))]
	k.mu.Unlock()
	return subtle.ConstantTimeCompare(secret, request[cancelHead:]) == 1 // no secret has no byte
}

// appendKey tells the client the key of its session.
func appendKey(b []byte, pid int32, secret []byte) []byte {
	b, at := wire.Begin(b, wire.BackendKeyData)
	b = binary.BigEndian.AppendUint32(b, uint32(pid))
	return wire.End(append(b, secret...), at)
}
