package partition

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Units are the values of Settings.Every.
var Units = []string{"day", "week", "month", "year"}

// Settings are what a person asks for.
type Settings struct {
	Table    string        // as SQL would name it
	Every    string        // one of Units: how much time a partition has
	Ahead    int           // how many units after the current one have partitions; 1 or more
	Keep     int           // how many units before the current one stay; 0: all
	Zone     string        // the time zone in which units begin
	Patience time.Duration // how long a statement waits for a lock; 1 ms or more
}

// The bounds of a range that has no end. PostgreSQL prints them as MINVALUE and MAXVALUE.
const (
	minValue = math.MinInt64
	maxValue = math.MaxInt64
)

// A part is a partition: the IDs from low to below high.
type part struct {
	name                 pgx.Identifier
	low, high            int64
	kind                 string // as in pg_class
	persistence, replica string // the same
	options              string // storage parameters, as SQL
	pending              bool   // a DETACH CONCURRENTLY was interrupted
	marked               bool   // a run was about to detach it
	others               bool   // another role owns it than owns the table
}

// A left table was detached by a run that ended before its drop.
type left struct {
	name pgx.Identifier
	high int64
}

// A start is when a unit begins: the first ID that can be made then.
type start struct {
	local time.Time // a clock on the wall of the zone; the location means nothing
	id    int64
}

// Facts are what a look has found.
type Facts struct {
	settings Settings
	name     pgx.Identifier
	oid      int64
	kind     string
	unlogged bool
	key      string // what it is partitioned by; empty: it is not
	fits     bool   // by ranges of one bigint column
	fallback string // the DEFAULT partition; empty: none

	owner      string // of the table; empty: the role itself
	tablespace string // empty: the default
	method     string // access method; empty: the default

	parts  []part // ordered
	left   []left
	starts []start             // of units, from Keep before the current one
	times  map[int64]time.Time // local times of bounds that have one
	first  int64               // the first number that can be an ID
	taken  map[string]bool     // names in the schema

	clock, here time.Time // of the server, and of this machine
}

// mark begins the comment of a partition that is to be detached and dropped. Its end follows.
func (f Facts) mark() string {
	return "pgflurry partition: detached from " + f.name.Sanitize() + ", to be dropped; its IDs are below "
}

// shown is a name for people. One with unusual characters is quoted.
func (f Facts) shown(name pgx.Identifier) string {
	text := strings.Join(name, ".")
	if plain.MatchString(text) {
		return text
	}
	return strconv.Quote(name.Sanitize())
}

var plain = regexp.MustCompile(`^[a-z_0-9.]+$`)
