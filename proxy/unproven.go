package proxy

import (
	"errors"
	"net"
	"os"
)

// Over a Unix socket, PostgreSQL's method peer takes the account of the process that connects as the proof. That is the
// proxy's account, for each of its clients. So who stands behind such a socket has to ask each client for something,
// unless the client runs as that account, too.

// errUnproven is the cause of failUnproven.
var errUnproven = errors.New("upstream asked for no proof: the method is peer, trust or the like")

// mustBeProven says whether a host could take the proxy's account as the client's proof.
func mustBeProven(h Host, client net.Conn) bool { return h.Network == "unix" && !isOwnAccount(client) }

// isOwn says whether the account of a process is that of this one. An account of another namespace of users has the
// number unmapped, and so may be any.
func isOwn(account uint32) bool { return account != unmapped && int64(account) == int64(os.Geteuid()) }

// unmapped is the kernel's overflowuid.
const unmapped = 65534
