package decide

import (
	"context"

	"pgflurry/internal/namespace"
	"pgflurry/internal/session"
)

// sameSpace refuses settings for another ID space or another region than the row's.
func sameSpace(s Settings, present namespace.Namespace) error {
	switch {
	case s.Space != nil && s.Space.ID != present.ID:
		return session.Contradicts("A database belongs to one ID space for good. Give the URL of another database, "+
			"or the fingerprint of this one: pgflurry namespace show --database URL.",
			"database %q belongs to namespace %s, not to %s of --namespace", present.Database, present.ID, s.Space.ID)
	case s.Region == nil || present.Region != nil && *s.Region == *present.Region:
		return nil
	case present.Region == nil:
		return session.Contradicts("Leave --region out. Regions begin with a new ID space, in another database, or "+
			"here after \"pgflurry migrate down\": "+
			"pgflurry migrate up --database URL --layout datacenter --region NUMBER.",
			"the namespace of database %q has no regions, and cannot be divided: "+
				"IDs of each of the workers %v may exist, those of region %d as well",
			present.Database, present.Workers(), *s.Region)
	}
	return session.Contradicts("Leave --region out: the number of a region cannot change, because its IDs have it. "+
		"In a copy of the database \"pgflurry namespace join --region NUMBER --namespace FINGERPRINT\" begins "+
		"another one.",
		"database %q is region %d of namespace %s, not region %d",
		present.Database, *present.Region, present.ID, *s.Region)
}

// forgetRegion prepares the copy of a region for being another region. The namespace row and the worker rows are wrong
// for it, and none of its workers was the original's. So it begins like a database without these rows, but with IDs in
// its tables. The marks of the function stay, so IDs continue above those that were copied.
func forgetRegion(ctx context.Context, d *session.Database, s Settings, h *Home) error {
	if h != nil || s.Moved {
		return session.Contradicts("Choose one.", "to join or to move leaves a copy in the region of its original, "+
			"and --region %d is another one", *s.Region)
	}
	return d.Script(ctx, "forgetting the region that this is a copy of", sql.Forget)
}

// beginInstead protects a new region whose number belonged to an earlier database, which is gone for good. That
// database may have granted workers, given workers to databases that joined, and drawn IDs. So the region begins as
// after a failover that forgot all that.
func beginInstead(ctx context.Context, d *session.Database, s Settings) error {
	present, err := namespace.Read(ctx, d.Conn)
	if err != nil {
		return err
	}
	if _, err := closeGate(ctx, d, s, present); err != nil {
		return err
	}
	return d.Script(ctx, "letting the function begin as after a promotion", sql.BeginAnew)
}
