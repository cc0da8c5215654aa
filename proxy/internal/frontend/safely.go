package frontend

import (
	"log/slog"
	"runtime/debug"
)

// Safely keeps a panic in one session from ending the others: then the error is broken.
func Safely(log *slog.Logger, broken error, f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			LogPanic(log, cause)
			err = broken
		}
	}()
	return f()
}

// Apart is Safely on a stack of its own. Dialling, handshakes and logins need a deep one. An idle session would
// otherwise keep it for its whole life, and a third of its memory would be that stack.
func Apart(log *slog.Logger, broken error, f func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = Safely(log, broken, f)
	}()
	<-done
	return err
}

// LogPanic logs what a session has recovered from.
func LogPanic(log *slog.Logger, cause any) {
	log.Error("a session failed; please report this", "fault", cause, "stack", string(debug.Stack()))
}
