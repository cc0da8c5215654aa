package meter

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
)

// Says returns an error as a reader of a table needs it: SQLSTATE and message, or what happened to the connection. It
// removes addresses and process numbers, so that equal errors look equal.
func Says(err error) string {
	var said *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &said):
		return said.Code + " " + Plain(said.Message)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), timedOut(err):
		return "no answer in time"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "host unreachable"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return "connection closed without a word"
	}
	return Plain(err.Error())
}

func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// What differs from time to time, in the order of removal.
var (
	addresses = regexp.MustCompile(`\(?\b\d{1,3}(\.\d{1,3}){3}\b\)?(:\d+)?`)
	times     = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?`)
	lengths   = regexp.MustCompile(`\b(\d+(\.\d+)?(h|ms|m|s|µs))+\b`)
	numbers   = regexp.MustCompile(`\b\d+\b`)
	spaces    = regexp.MustCompile(`\s+`)
)

// Plain returns a message in one line, without addresses, times and numbers.
func Plain(message string) string {
	state := ""
	if len(message) > 6 && message[5] == ' ' && !strings.ContainsAny(message[:5], " :") {
		state, message = message[:6], message[6:] // a SQLSTATE may look like a number
	}
	message = addresses.ReplaceAllString(message, "ADDRESS")
	message = times.ReplaceAllString(message, "TIME")
	message = lengths.ReplaceAllString(message, "N s")
	message = numbers.ReplaceAllString(message, "N")
	message = strings.TrimSpace(spaces.ReplaceAllString(message, " "))
	if most := 160; len(message) > most {
		message = message[:most] + "…"
	}
	return state + message
}
