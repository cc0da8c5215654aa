package partition

import (
	"fmt"
	"time"

	"pgflurry/hint"
	"pgflurry/outcome"
)

// refuse is the error about a table that does not fit.
func refuse(advice, format string, values ...any) error {
	return outcome.As(outcome.NotInPlace, hint.With(fmt.Errorf(format, values...), advice))
}

// tableFits refuses a table that is not partitioned by ranges of its ID.
func (f *Facts) tableFits(persistence string) error {
	name := f.shown(f.name)
	switch {
	case f.kind != "p":
		return refuse("docs/partitions.md says how a table with rows becomes a partitioned one.",
			"%s is not a partitioned table", name)
	case !f.fits:
		return refuse("Only a key of one bigint column, RANGE (id), has ranges of IDs.",
			"%s is partitioned by %s; expected RANGE of one bigint column", name, f.key)
	case f.fallback != "":
		return refuse("With one, each new partition locks out writers and reads all its rows. PostgreSQL also refuses "+
			"DETACH CONCURRENTLY. Move its rows away, and drop it: a run leaves no ID without a partition.",
			"%s has the DEFAULT partition %s", name, f.fallback)
	case persistence == "t":
		return refuse("Its session alone can see it.", "%s is a temporary table", name)
	}
	return nil
}

// partsFit refuses partitions that a run cannot continue.
func (f *Facts) partsFit() error {
	if len(f.parts) == 0 {
		return nil
	}
	last := f.parts[len(f.parts)-1]
	switch {
	case last.high == maxValue:
		return refuse("Detach it, and attach it TO (snowflake_floor('…')), the start of a unit that has not begun.",
			"partition %s has no end (MAXVALUE), so none can begin after it", f.shown(last.name))
	case last.kind == "p":
		return refuse("Make its partitions yourself.",
			"partition %s is partitioned itself, and a new one would not be", f.shown(last.name))
	case last.replica == "i":
		return refuse("Use REPLICA IDENTITY FULL, or DEFAULT with a primary key.",
			"partition %s has REPLICA IDENTITY USING INDEX, which a new one would lack", f.shown(last.name))
	}
	return nil
}

// furthest is how far the clocks of the server and of this machine may be apart where something is dropped.
const furthest = time.Hour

// clocksFit refuses drops while one of two clocks is wrong: a clock that is ahead makes every partition an old one.
func (f *Facts) clocksFit() error {
	apart := f.clock.Sub(f.here).Round(time.Second)
	if f.settings.Keep == 0 || apart.Abs() <= furthest {
		return nil
	}
	return hint.With(fmt.Errorf("the server's clock shows %s, and this machine's %s: %v apart; with --keep at most %v",
		f.clock.UTC().Format(time.RFC3339), f.here.UTC().Format(time.RFC3339), apart.Abs(), furthest),
		"A wrong clock would drop partitions that are not old. Correct it. Without --keep nothing is dropped.")
}
