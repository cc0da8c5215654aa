package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"pgflurry/connstring"
	"pgflurry/outcome"
)

// logSettings are the flags of a command that logs to standard error.
type logSettings struct {
	level, format string
	threshold     *slog.LevelVar // of the logger that open has made: the level, which may change
}

// formatFlag adds the flag that all such commands have.
func (s *logSettings) formatFlag(f *pflag.FlagSet) {
	f.StringVar(&s.format, "log-format", "text", "how a line of the log is written: text (key=value) or json")
}

// check says what is wrong with the flags.
func (s *logSettings) check() error {
	_, wrongLevel := s.least()
	_, wrongFormat := s.handler(slog.LevelInfo)
	return errors.Join(wrongLevel, wrongFormat)
}

// least is the level.
func (s *logSettings) least() (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(s.level)); err != nil {
		return level, outcome.As(outcome.Usage,
			fmt.Errorf("--log-level is %s; expected debug, info, warn or error", connstring.Shown(s.level)))
	}
	return level, nil
}

// open makes the logger. Its lines go through the queue, whose end the caller awaits.
func (s *logSettings) open(w io.Writer) (*slog.Logger, *logQueue, error) {
	level, err := s.least()
	if err != nil {
		return nil, nil, err
	}
	s.threshold = &slog.LevelVar{}
	s.threshold.Set(level)
	lines, err := s.handler(s.threshold)
	if err != nil {
		return nil, nil, err
	}
	unqueued := slog.New(lines(w))
	queue := newLogQueue(w, func(lost int64) {
		unqueued.Error("lines of this log are lost: its reader was too slow", "lines", lost)
	})
	return slog.New(lines(queue)), queue, nil
}

// handler makes handlers of the format that is set.
func (s *logSettings) handler(level slog.Leveler) (func(io.Writer) slog.Handler, error) {
	options := &slog.HandlerOptions{Level: level}
	switch s.format {
	case "text":
		return func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, options) }, nil
	case "json":
		options.ReplaceAttr = asInText
		return func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, options) }, nil
	default:
		return nil, outcome.As(outcome.Usage,
			fmt.Errorf("--log-format is %s; expected text or json", connstring.Shown(s.format)))
	}
}

// asInText gives a JSON line the addresses and durations of a text line: "127.0.0.1:5432" and "1m0s", not their fields
// and nanoseconds.
func asInText(_ []string, a slog.Attr) slog.Attr {
	if value, is := a.Value.Any().(fmt.Stringer); is && a.Value.Kind() != slog.KindTime {
		a.Value = slog.StringValue(value.String())
	}
	return a
}
