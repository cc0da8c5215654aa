package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"pgflurry/connstring"
)

// logSettings are the flags of a command that logs to standard error.
type logSettings struct{ level, format string }

// formatFlag adds the flag that all such commands have.
func (s *logSettings) formatFlag(f *pflag.FlagSet) {
	f.StringVar(&s.format, "log-format", "text", "how a line of the log is written: text (key=value) or json")
}

// open makes the logger.
func (s *logSettings) open(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.level)); err != nil {
		return nil, fmt.Errorf("--log-level is %s; expected debug, info, warn or error", connstring.Shown(s.level))
	}
	options := &slog.HandlerOptions{Level: level}
	var lines slog.Handler
	switch s.format {
	case "text":
		lines = slog.NewTextHandler(w, options)
	case "json":
		options.ReplaceAttr = asInText
		lines = slog.NewJSONHandler(w, options)
	default:
		return nil, fmt.Errorf("--log-format is %s; expected text or json", connstring.Shown(s.format))
	}
	return slog.New(lines), nil
}

// asInText gives a JSON line the addresses and durations of a text line: "127.0.0.1:5432" and "1m0s", not their fields
// and nanoseconds.
func asInText(_ []string, a slog.Attr) slog.Attr {
	if value, is := a.Value.Any().(fmt.Stringer); is && a.Value.Kind() != slog.KindTime {
		a.Value = slog.StringValue(value.String())
	}
	return a
}
