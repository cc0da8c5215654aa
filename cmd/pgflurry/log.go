package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"pgflurry/connstring"
	"pgflurry/logs"
	"pgflurry/outcome"
)

// logSettings are the log flags of a command.
type logSettings struct {
	level, format string
	threshold     *slog.LevelVar // level of the logger that open has made; a reload may change it
}

// formatFlag adds --log-format, which all such commands have.
func (s *logSettings) formatFlag(f *pflag.FlagSet) {
	f.StringVar(&s.format, "log-format", "text", "how a line of the log is written: text (key=value) or json")
}

// check reports wrong flags.
func (s *logSettings) check() error {
	_, wrongLevel := s.least()
	_, wrongFormat := s.handler(slog.LevelInfo)
	return errors.Join(wrongLevel, wrongFormat)
}

// least is the lowest level that is logged.
func (s *logSettings) least() (level slog.Level, err error) {
	if err := level.UnmarshalText([]byte(s.level)); err != nil {
		return level, outcome.As(outcome.Usage,
			fmt.Errorf("--log-level is %s; expected debug, info, warn or error", connstring.Shown(s.level)))
	}
	return level, nil
}

// open makes the logger. Its lines go through the queue. The caller has to end the queue.
func (s *logSettings) open(w io.Writer) (*slog.Logger, *logs.Queue, error) {
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
	log, queue := logs.Queued(w, lines)
	return log, queue, nil
}

// handler returns a constructor for handlers of the chosen format.
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

// asInText formats addresses and durations in JSON as in text: "127.0.0.1:5432" and "1m0s" instead of a struct and
// nanoseconds.
func asInText(_ []string, a slog.Attr) slog.Attr {
	if value, is := a.Value.Any().(fmt.Stringer); is && a.Value.Kind() != slog.KindTime {
		a.Value = slog.StringValue(value.String())
	}
	return a
}
