package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/coreos/go-systemd/v22/journal"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"pgflurry/internal/config"
	"pgflurry/internal/config/source"
	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/logs"
)

// formatFlag adds --log-format to a command that is not serve.
func formatFlag(f *pflag.FlagSet, format *string) {
	for _, r := range config.Rows("") {
		if r.Name == "log-format" {
			f.StringVar(format, r.Name, r.Default.(string), r.Help)
			r.Group = "" // the command has few flags
			source.Describe(f, r)
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
	if plain := handler; toJournal(w) {
		handler = func(w io.Writer) slog.Handler { return logs.Prioritised(w, plain) }
	}
	log, queue := logs.Queued(w, handler)
	return log, queue, nil
}

// toJournal says whether systemd's journal reads what is written.
func toJournal(w io.Writer) bool {
	is, err := journal.StderrIsJournalStream()
	return err == nil && is && w == os.Stderr
}

// logged is an error that the log has, so that main need not print it.
type logged struct{ error }

func (e logged) Unwrap() error { return e.error }

// logFatal logs why serve ends, if programs read the log. A person at a terminal reads it better as main prints it.
func logFatal(ctx context.Context, cmd *cobra.Command, format string, err error) error {
	w := cmd.ErrOrStderr()
	if format != "json" && !toJournal(w) {
		return err
	}
	log, queue, wrong := openLog(w, slog.LevelError, format)
	if wrong != nil {
		return err
	}
	defer queue.End()
	err = readable(ctx, cmd, err)
	log.Error("serve has ended by an error", append([]any{
		"cause", connect.Masked(inOneLine(err)), "exit_code", int(fault.KindOf(err)),
	}, fault.HintField(fault.HintOf(err))...)...)
	return logged{err}
}

// asInText formats addresses and durations in JSON as in text: "127.0.0.1:5432" and "1m0s" instead of a struct and
// nanoseconds.
func asInText(_ []string, a slog.Attr) slog.Attr {
	if value, is := a.Value.Any().(fmt.Stringer); is && a.Value.Kind() != slog.KindTime {
		a.Value = slog.StringValue(value.String())
	}
	return a
}
