package decide

import (
	"context"

	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// whyCopied says why a database is a copy, by its row, and by what this run says of servers that are not known.
func (s Settings) whyCopied(present namespace.Namespace) string {
	why, _ := present.Copied()
	switch {
	case why == "" && s.NewServer == Refuse:
		return present.NewServer
	case why == present.NewServer && s.NewServer == Warn:
		return ""
	}
	return why
}

// SetNewServer changes what happens on a server that is not known.
func SetNewServer(ctx context.Context, d *session.Database, choice string) error {
	return d.Write(ctx, "writing down what happens on a new server", sql.NewServer, choice)
}

// NoteServer lets the row remember the server, unless it is a new one.
func NoteServer(ctx context.Context, d *session.Database) error {
	row, err := namespace.Read(ctx, d.Conn)
	if err != nil {
		return err
	}
	if err := row.Noted(ctx, d.Conn); err != nil {
		return session.Failed("writing down which server this is", err)
	}
	return nil
}
