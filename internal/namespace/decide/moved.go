package decide

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// takePlace lets the database replace its original, which gives no IDs any more, or continue after it was set back in
// place. why says why it is a copy; "": it does not look like one. raised: it has raised the quarantine.
func takePlace(ctx context.Context, d *session.Database, s Settings, present namespace.Namespace, h *Home,
	why string,
) (raised bool, err error) {
	original := "" // its name, if it is on this server
	switch {
	case present.Home != "" && h == nil:
		return false, session.Refuse("Add --home with the URL of that database: its rows say whose the worker is.",
			"database %q has joined a namespace whose workers are in %s", present.Database, present.Home)
	case present.Home == "" && h != nil:
		return false, session.Refuse("Leave --home out if the original is gone for good. If it lives: pgflurry "+
			"namespace join.",
			"database %q is a copy of the home of its namespace, and cannot move to a worker that its home gave away",
			present.Database)
	case why != "" || present.Closed || present.NewServer != "":
		if original, err = originalEnded(ctx, d, s, present); err != nil {
			return false, err
		}
	}
	if present.Home != "" { // its home knows the others, and there is no gate here
		return false, rejoin(ctx, d, s, present, h)
	}
	d.Doing("waiting for other moves of this ID space")
	if err := firstOfServer(ctx, d.Conn); err != nil {
		return false, err
	}
	if err := placeTaken(ctx, d, s, present, original); err != nil {
		return false, err
	}
	return closeGate(ctx, d, s, present)
}

// closeGate lets no worker be granted until old grants have ended. If the operator says that those may be longer than
// the row knows, the quarantine rises first.
func closeGate(
	ctx context.Context, d *session.Database, s Settings, present namespace.Namespace,
) (raised bool, err error) {
	quarantine := QuarantineFor(s.MaxWindow, present.Skew, present.Layout.Unit)
	if raised = s.MaxWindow != 0 && present.Quarantine < quarantine; raised {
		if err := d.Script(ctx, "locking the workers", sql.LockWorkers); err != nil {
			return false, busy(err)
		}
		if err := d.Write(ctx, "raising the quarantine", sql.Quarantine, quarantine.Microseconds()); err != nil {
			return false, err
		}
	}
	return raised, d.Write(ctx, "closing the gate until old grants have ended", sql.Moved)
}

// same says whether two databases are of one region, or of none.
func same(a, b *int) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// lookForOriginal reads what can be known of the original of this copy. here: it was on this server. name and oid are
// of its database, if that is there still.
func lookForOriginal(ctx context.Context, d *session.Database) (here bool, name string, oid uint32, err error) {
	if err := d.Conn.QueryRow(ctx, sql.Evidence, namespace.Reached(d.Conn)).Scan(&here, &name, &oid); err != nil {
		return false, "", 0, session.Failed("looking for the original", err)
	}
	return here, name, oid, nil
}

// originalEnded refuses unless no other database can draw the IDs of this one. That can be seen on a server that is
// known, where nobody has closed the original. Then its database is not there any more, or is this one. In all other
// cases it is the operator's word: a closed database may have a successor, and a dump proves nothing of later.
// It returns the name of the original, if that is another database of this server.
func originalEnded(ctx context.Context, d *session.Database, s Settings, present namespace.Namespace) (string, error) {
	here, name, oid, err := lookForOriginal(ctx, d)
	if err != nil {
		return "", err
	}
	if name != "" {
		if row, err := rowOf(ctx, d.Conn, name); err != nil || !row.Closed {
			return "", session.Refuse(fmt.Sprintf("Drop %s first, or run \"pgflurry namespace close\" on it. "+
				"If both shall give IDs: \"pgflurry namespace join\", or separate.",
				pgx.Identifier{name}.Sanitize()),
				"database %q has not moved: its original, database %q (oid %d), still exists on this server, "+
					"and is not closed", d.Facts.Database, name, oid)
		}
	}
	what, advice := "is a copy",
		`If its original still gives IDs, run "pgflurry namespace close --database ORIGINAL --wait". Then copy it.
Once it is closed or destroyed for good, and if no other copy has taken its place, add --no-other-draws.`
	switch _, copied := present.Copied(); {
	case s.NoOtherDraws:
		return name, nil
	case copied && (!here || present.Closed || name != ""):
	case present.Closed:
		what, advice = "is closed",
			`It was closed for another database to take its place. If one has, do not go on: IDs would come twice.
Only if none ever did, or once that one is closed or destroyed for good: add --no-other-draws.`
	case present.NewServer != "":
		what = "is on a server that is not known"
	default:
		return "", nil
	}
	return "", fault.WithKind(fault.NotInPlace, session.Refuse(
		advice, "database %q %s, and nothing here shows whether another one goes on with the same IDs",
		present.Database, what))
}

const (
	patienceForDatabases = 5 * time.Second // for a look into another database of the server
	patienceForMoves     = time.Minute     // for another run that moves the same ID space
)

// firstOfServer lets databases of one server decide one after the other which of them takes the place of the original.
// Each takes a lock of its own, and then looks for those of the others. So of two that run at once at least one sees
// the other. The one with the lower OID waits until the other has ended. The other refuses.
func firstOfServer(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, sql.MovedLock); err != nil {
		return session.Failed("taking the lock of a move", err)
	}
	for end := time.Now().Add(patienceForMoves); ; time.Sleep(20 * time.Millisecond) {
		var lower string
		var higher int
		if err := conn.QueryRow(ctx, sql.MovedElsewhere).Scan(&lower, &higher); err != nil {
			return session.Failed("looking for another move on this server", err)
		}
		switch {
		case lower != "":
			return session.Refuse("Wait until that has ended. Only one copy takes the place of the original: the "+
				"others join or separate.",
				"another \"namespace move\" of this ID space is under way, in database %q of this server", lower)
		case higher == 0:
			return nil
		case time.Now().After(end):
			return session.Refuse("Let it end, and run it again.", "another \"namespace move\" of this ID space is "+
				"still under way on this server after %v", patienceForMoves)
		}
	}
}

// placeTaken refuses if another database of this server is the home already: another copy has replaced the original. It
// names the databases that it cannot look into. It cannot see copies on other servers.
func placeTaken(ctx context.Context, d *session.Database, s Settings, present namespace.Namespace,
	original string,
) error {
	others, err := session.Texts(ctx, d.Conn, "listing the databases of the server", sql.OtherDatabases)
	if err != nil {
		return err
	}
	var hidden []string
	for _, name := range others {
		other, err := rowOf(ctx, d.Conn, name)
		_, copied := other.Copied()
		switch missing := new(namespace.NotMigratedError); {
		case errors.As(err, &missing):
		case err != nil:
			hidden = append(hidden, name)
		case copied || other.ID != present.ID || other.Home != "" || !same(other.Region, present.Region):
		case other.Closed && (s.NoOtherDraws || name == original): // looked at again: it may have taken its place back
		case other.Closed:
			return session.Refuse("If none has taken the place of that one either, add --no-other-draws.",
				"database %q was the home of namespace %s, and was closed: another copy may have taken its place",
				name, present.ID)
		default:
			return session.Refuse("If this copy shall stay as well: \"pgflurry namespace join\", or separate.",
				"database %q is the home of namespace %s already: another copy has taken the place of the original",
				name, present.ID)
		}
	}
	if len(hidden) > 0 {
		s.Tell("warning: Databases of this server that could not be looked into: " + strings.Join(hidden, ", ") +
			". If one of them has taken the place of the original already, both give the same IDs.")
	}
	return nil
}

// rowOf reads the namespace row of another database of this server.
func rowOf(ctx context.Context, conn *pgx.Conn, name string) (namespace.Namespace, error) {
	ctx, cancel := context.WithTimeout(ctx, patienceForDatabases)
	defer cancel()
	settings := conn.Config()
	settings.Database, settings.OnNotice = name, nil
	conn, err := pgx.ConnectConfig(ctx, settings)
	if err != nil {
		return namespace.Namespace{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return namespace.Read(ctx, conn)
}
