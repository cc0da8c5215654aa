package migrations

import (
	"context"

	"pgflurry/internal/namespace"
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

// setNewServer changes what happens on a server that is not known.
func setNewServer(ctx context.Context, d *database, choice string) error {
	return d.write(ctx, "writing down what happens on a new server", sql.NewServer, choice)
}

// noteServer lets the row remember the server, unless it is a new one.
func noteServer(ctx context.Context, d *database) error {
	row, err := namespace.Read(ctx, d.conn)
	if err != nil {
		return err
	}
	if err := row.Noted(ctx, d.conn); err != nil {
		return failed("writing down which server this is", err)
	}
	return nil
}
