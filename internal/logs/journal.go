package logs

import (
	"context"
	"io"
	"log/slog"
)

// Prioritised makes a handler whose lines begin with their priority, as systemd's journal reads it
// (https://www.freedesktop.org/software/systemd/man/sd-daemon.html). handler makes one that writes to a writer.
func Prioritised(w io.Writer, handler func(io.Writer) slog.Handler) slog.Handler {
	var p prioritised
	for i, prefix := range []string{"<7>", "<6>", "<4>", "<3>"} {
		p[i] = handler(prefixed{w, prefix})
	}
	return p
}

// prioritised has the handlers of debug, information, warnings and errors.
type prioritised [4]slog.Handler

func (p prioritised) of(level slog.Level) slog.Handler {
	switch {
	case level >= slog.LevelError:
		return p[3]
	case level >= slog.LevelWarn:
		return p[2]
	case level >= slog.LevelInfo:
		return p[1]
	}
	return p[0]
}

func (p prioritised) Enabled(ctx context.Context, level slog.Level) bool {
	return p.of(level).Enabled(ctx, level)
}

func (p prioritised) Handle(ctx context.Context, r slog.Record) error {
	return p.of(r.Level).Handle(ctx, r)
}

func (p prioritised) WithAttrs(attrs []slog.Attr) slog.Handler {
	for i, h := range p {
		p[i] = h.WithAttrs(attrs)
	}
	return p
}

func (p prioritised) WithGroup(name string) slog.Handler {
	for i, h := range p {
		p[i] = h.WithGroup(name)
	}
	return p
}

// prefixed writes each line with a prefix.
type prefixed struct {
	w      io.Writer
	prefix string
}

func (p prefixed) Write(line []byte) (int, error) {
	_, err := p.w.Write(append([]byte(p.prefix), line...))
	return len(line), err
}
