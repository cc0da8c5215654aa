package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"pgflurry/config"
	"pgflurry/logs"
)

// formatFlag adds --log-format to a command that is not serve.
func formatFlag(f *pflag.FlagSet, format *string) {
	for _, r := range config.Rows("") {
		if r.Name == "log-format" {
			f.StringVar(format, r.Name, r.Default.(string), r.Help)
			r.Group = "" // the command has few flags
			describe(f, r)
		}
	}
}

// openLog makes the logger. Its lines go through the queue. The caller has to end the queue.
func openLog(w io.Writer, level slog.Leveler, format string) (*slog.Logger, *logs.Queue, error) {
	if err := config.CheckLogFormat(format); err != nil {
		return nil, nil, err
	}
	options := &slog.HandlerOptions{Level: level}
	handler := func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, options) }
	if format == "json" {
		options.ReplaceAttr = asInText
		handler = func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, options) }
	}
	log, queue := logs.Queued(w, handler)
	return log, queue, nil
}

// asInText formats addresses and durations in JSON as in text: "127.0.0.1:5432" and "1m0s" instead of a struct and
// nanoseconds.
func asInText(_ []string, a slog.Attr) slog.Attr {
	if value, is := a.Value.Any().(fmt.Stringer); is && a.Value.Kind() != slog.KindTime {
		a.Value = slog.StringValue(value.String())
	}
	return a
}
