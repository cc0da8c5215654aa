package statement

import "strings"

// Names is a set of names that answered forms use, and that PostgreSQL has to look up: functions, and types of casts. A
// form means what it seems to mean only if each of its names does.
type Names uint32

// AllNames has every name.
const AllNames = ^Names(0)

// words are the names without a schema.
var words = [...]string{
	"next_snowflake", "next_snowflakes", "next_segment", "next_segments", "generate_series", "text", "int8",
}

// These are places in words.
const (
	nextSnowflake = iota
	nextSnowflakes
	nextSegment
	nextSegments
	generateSeries
	typeText
	typeInt8
)

// schema is how a text qualifies a name.
type schema int

const (
	unqualified schema = iota
	inPublic
	inPgflurry
	schemas
)

var prefixes = [schemas]string{"", "public.", "pgflurry."}

// nameOf is a set of one name.
func nameOf(s schema, word int) Names { return 1 << (word*int(schemas) + int(s)) }

// NamesOf is the set of these names, each as in a text: "next_segment", "public.next_segment". It leaves out names that
// no form uses.
func NamesOf(texts ...string) (set Names) {
	for _, text := range texts {
		for s, prefix := range prefixes {
			for i, word := range words {
				if rest, found := strings.CutPrefix(text, prefix); found && rest == word {
					set |= nameOf(schema(s), i)
				}
			}
		}
	}
	return set
}
