package idserver

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"sync"

	"pgflurry/proxy/wire"
)

// A cancel request names the key of a session: a process ID and a secret. A session here has no process. The request
// must not go upstream, where the key could belong to another client.
const (
	secretSize     = 4         // bytes
	longSecretSize = 32        // bytes, from longSecrets on
	longSecrets    = 3<<16 | 2 // protocol 3.2, of PostgreSQL 18
	// lowestID keeps process IDs out of the range of real processes.
	lowestID = 1 << 30

	// cancelHead is the size in bytes of what comes before the secret in a CancelRequest: a length, a code and a
	// process ID.
	cancelHead = 12
)

// keys are the keys of all sessions. Its methods are safe for concurrent use.
type keys struct {
	mu  sync.Mutex
	all map[int32]key // by process ID
}

type key struct {
	secret []byte
	of     *seen
}

// issue makes the key of a new session.
func (k *keys) issue(of *seen, version uint32) (pid int32, secret []byte) {
	secret = make([]byte, secretSize)
	if version >= longSecrets {
		secret = make([]byte, longSecretSize)
	}
	rand.Read(secret) // it never fails
	k.mu.Lock()
	defer k.mu.Unlock()
	for {
		var random [4]byte
		rand.Read(random[:])
		pid = int32(binary.BigEndian.Uint32(random[:])%lowestID | lowestID)
		if k.all[pid].of == nil {
			k.all[pid] = key{secret, of}
			return pid, secret
		}
	}
}

// free gives a key back.
func (k *keys) free(pid int32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.all, pid)
}

// find finds the session whose key a CancelRequest names; nil: there is none.
func (k *keys) find(request []byte) *seen {
	if len(request) <= cancelHead || int(binary.BigEndian.Uint32(request)) != len(request) ||
		binary.BigEndian.Uint32(request[4:]) != wire.CancelRequest {
		return nil
	}
	k.mu.Lock()
	named := k.all[int32(binary.BigEndian.Uint32(request[8:]))]
	k.mu.Unlock()
	// An unknown process ID has an empty secret. No request matches that.
	if subtle.ConstantTimeCompare(named.secret, request[cancelHead:]) != 1 {
		return nil
	}
	return named.of
}

// appendKey writes the BackendKeyData of a session.
func appendKey(b []byte, pid int32, secret []byte) []byte {
	b, at := wire.Begin(b, wire.BackendKeyData)
	b = binary.BigEndian.AppendUint32(b, uint32(pid))
	return wire.End(append(b, secret...), at)
}
