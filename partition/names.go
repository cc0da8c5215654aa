package partition

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
)

// longestName is what PostgreSQL keeps of a name, in bytes.
const longestName = 63

// nameOf is the name of a new partition: that of the table and of the unit in which it begins.
func (f Facts) nameOf(s span) pgx.Identifier {
	name := "until_" + f.label(s.high)
	if _, dated := f.times[s.low]; dated && s.low > f.first {
		name = f.label(s.low)
	}
	for again := 1; ; again++ {
		end := "_" + name
		if again > 1 {
			end += fmt.Sprintf("_%d", again)
		}
		if free := shortened(f.name[1], longestName-len(end)) + end; !f.taken[free] {
			f.taken[free] = true
			return pgx.Identifier{f.name[0], free}
		}
	}
}

// label names an ID by its local time. A bound that is no start of a unit has a time of day.
func (f Facts) label(id int64) string {
	local, dated := f.times[id]
	if !dated {
		return "old_keys"
	}
	const day, instant = "2006_01_02", "2006_01_02_150405"
	midnight := local.Equal(local.Truncate(24 * time.Hour))
	switch every := f.settings.Every; {
	case midnight && every == "year" && local.YearDay() == 1:
		return local.Format("2006")
	case midnight && every == "month" && local.Day() == 1:
		return local.Format("2006_01")
	case midnight && (every == "day" || every == "week" && local.Weekday() == time.Monday):
		return local.Format(day)
	}
	return local.Format(instant)
}

// shortened is at most so many bytes of a name, and whole characters.
func shortened(name string, bytes int) string {
	if len(name) <= bytes {
		return name
	}
	for bytes > 0 && !utf8.RuneStart(name[bytes]) {
		bytes--
	}
	return name[:bytes]
}

// when is an ID as a local time, for people.
func (f Facts) when(id int64) string {
	switch local, dated := f.times[id]; {
	case id == minValue:
		return "the least key"
	case !dated:
		return fmt.Sprintf("key %d", id)
	default:
		return local.Format("2006-01-02 15:04:05.999")
	}
}
