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

// rules are the settings that Change replaces.
type rules struct {
	method      Method
	maxSessions int           // no limit if zero or less
	idleTimeout time.Duration // never if zero
	maxAge      time.Duration // no limit if zero
}

// conditions are what may change while clients are here.
type conditions struct {
	rules    atomic.Pointer[rules]
	draining *atomic.Bool
}
