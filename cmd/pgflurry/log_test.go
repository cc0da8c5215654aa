package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"
)

func TestTheLogIsTextOrJSON(t *testing.T) {
	for format, says := range map[string]string{
		"text": "", "json": "", "xml": `--log-format is "xml"; expected text or json`,
	} {
		var out bytes.Buffer
		log, queue, err := openLog(&out, slog.LevelInfo, format)
		if says != "" {
			if err == nil || err.Error() != says {
				t.Errorf("%s: %v", format, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		log.Info("hello", "n", 7, "address", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5}, "timeout", time.Minute,
			"cause", errors.New("it"))
		queue.End()
		var line struct {
			Time                                time.Time
			Level, Msg, Address, Timeout, Cause string
			N                                   int
		}
		isJSON := json.Unmarshal(out.Bytes(), &line) == nil && line.N == 7 && !line.Time.IsZero() &&
			line.Level+line.Msg+line.Address+line.Timeout+line.Cause == "INFOhello127.0.0.1:51m0sit"
		isText := strings.Contains(out.String(), "msg=hello n=7 address=127.0.0.1:5 timeout=1m0s cause=it")
		if isJSON == isText || isJSON != (format == "json") {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}
