package admin

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
)

func TestWhoLeavesInTheMiddleOfAScrapeFillsNoLog(t *testing.T) {
	gone := &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed}
	for _, c := range []struct {
		err  error
		want string
	}{
		{gone, "level=DEBUG"},
		{fmt.Errorf("wrapped: %w", gone), "level=DEBUG"},
		{errors.New("two samples of the same labels"), "level=ERROR"},
	} {
		var log bytes.Buffer
		handler := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})
		scrapeLog{slog.New(handler)}.Println("error encoding and sending metric family:", c.err)
		if !strings.Contains(log.String(), c.want) || !strings.Contains(log.String(), c.err.Error()) {
			t.Errorf("%v is logged as %q, want %s", c.err, log.String(), c.want)
		}
	}
}
