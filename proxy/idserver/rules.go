package idserver

import (
	"sync/atomic"
	"time"
)

// Method is how a client proves who it is. The words are those of pg_hba.conf.
type Method int

const (
	// SCRAM asks for the password by SCRAM-SHA-256, bound to the certificate of the connection if there is one.
	SCRAM Method = iota
	// Certificate takes the client's certificate, which TLS has verified. The user must be its common name or one of
	// its alternative names.
	Certificate
	// Trust believes any name that the client gives.
	Trust
)

// Rules are what a reload changes.
type Rules struct {
	// Method is how clients prove who they are.
	Method Method
	// MaxSessions is how many sessions may be open at once; no limit if zero or less.
	MaxSessions int
	// IdleTimeout ends a session whose client has sent nothing for that time; never if zero.
	IdleTimeout time.Duration
	// MaxAge is how old the accounts may be for a login; no limit if zero.
	MaxAge time.Duration
}

// conditions are what may change while clients are here.
type conditions struct {
	rules    atomic.Pointer[Rules]
	draining *atomic.Bool
}
