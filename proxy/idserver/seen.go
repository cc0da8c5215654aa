package idserver

import (
	"sync/atomic"

	"pgflurry/proxy/idserver/command"
)

// What a session does. A cancel request has an effect only while it works.
const (
	waiting   int32 = iota // for its client
	working                // on what its client has sent
	cancelled              // still working, but it has to fail soon
)

// seen is what all others see of a session. Its engine writes it, anybody may read it.
type seen struct {
	work        atomic.Int32           // waiting, working or cancelled
	status      atomic.Int32           // of the last ReadyForQuery: wire.StatusIdle …; 0: it has not logged in
	application atomic.Pointer[string] // application_name; nil: none
	counts      counts
}

// cancelWork makes the session fail soon if it works. Any goroutine may call it.
func (x *seen) cancelWork() { x.work.CompareAndSwap(working, cancelled) }

// checkCancel fails once after a cancel request. It runs before each statement and each row.
func (x *seen) checkCancel() error {
	if x.work.Load() == cancelled && x.work.CompareAndSwap(cancelled, working) {
		return errCancelled
	}
	return nil
}

// appendParameters writes settings as they are reported to the client.
func (x *seen) appendParameters(b []byte, all []command.Setting) []byte {
	for _, one := range all {
		b = appendParameter(b, one.Name, one.Value)
		if one.Name == "application_name" {
			x.application.Store(&one.Value)
		}
	}
	return b
}
