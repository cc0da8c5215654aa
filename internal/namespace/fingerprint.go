package namespace

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/fault"
)

// A Fingerprint is what all regions of an ID space have in common. People carry its text from one region to the next,
// because regions do not talk to each other:
//
//	pgf1_0f8fad5b-d9cb-469f-a165-70867728950e_41-5-5-12_2024-01-01T00:00:00Z_1ms_regions_8_0-31,991_SUM
//	│    │                                    │         │                    │   │       │ │        check sum
//	│    id: UUID of the namespace            layout    epoch: start of      │   │       │ foreign workers, or none
//	version of this form                                tick 0, RFC 3339     │   │       workers for functions
//	                                                                         │   regions, or whole
//	                                                                         unit: a tick, as Go writes it
//
// The layout is the bits of timestamp, datacenter, worker and sequence. "whole" is a space with one home: it gives all
// workers away, so no region fits in. The workers for functions are the first ones that are not foreign, of each region
// or of the whole. So everybody knows the kind of each worker, and no region can be made with other shares. The check
// sum is CRC-32 (IEEE) of all before its "_", 8 digits in hex.
//
// Each value has exactly one text, without a space or a character that a shell interprets. The check sum finds typing
// errors: each wrong character, and two neighbours that changed places. It is no protection against an attacker.
type Fingerprint struct {
	ID      string           // UUID, lower case
	Layout  generator.Layout // with epoch and unit
	Regions bool             // whether the space is divided into regions; false: one home has all workers
	// how many workers are for the functions of databases: in each region, or of all; at least 1
	DatabaseWorkers int
	Foreign         Ranges // of the whole space: a generator of another kind gives IDs with them
}

// Fingerprint returns the fingerprint of the ID space.
func (n Namespace) Fingerprint() Fingerprint {
	return Fingerprint{
		ID: n.ID, Layout: n.Layout, Regions: n.Region != nil, DatabaseWorkers: n.DatabaseWorkers, Foreign: n.Foreign,
	}
}

const (
	fingerprintVersion = "pgf1"
	fingerprintParts   = 9
	fingerprintForm    = fingerprintVersion + "_UUID_LAYOUT_EPOCH_UNIT_regions_FUNCTIONS_FOREIGN_CHECKSUM"
	inRegions, whole   = "regions", "whole"
)

// String returns the text.
func (f Fingerprint) String() string {
	division := whole
	if f.Regions {
		division = inRegions
	}
	text := strings.Join([]string{
		fingerprintVersion, f.ID, strings.ReplaceAll(f.Layout.String(), "/", "-"),
		f.Layout.Epoch.UTC().Format(time.RFC3339Nano), f.Layout.Unit.String(), division,
		strconv.Itoa(f.DatabaseWorkers), f.Foreign.List(),
	}, "_")
	return text + "_" + checkSum(text)
}

func checkSum(text string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(text))) }

var (
	uuid       = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	anyVersion = regexp.MustCompile(`^pgf[0-9]+$`)
)

// ParseFingerprint reads the text. Its errors say which part is wrong, and what was expected.
func ParseFingerprint(text string) (Fingerprint, error) {
	wrong := func(format string, values ...any) (Fingerprint, error) {
		return Fingerprint{}, &fingerprintError{fmt.Sprintf(format, values...)}
	}
	parts := strings.Split(text, "_")
	switch version := parts[0]; {
	case version != fingerprintVersion && anyVersion.MatchString(version):
		return wrong("it is of version %s, and this program knows %s", version, fingerprintVersion)
	case version != fingerprintVersion:
		return wrong("it does not begin with %s_", fingerprintVersion)
	case len(parts) != fingerprintParts:
		return wrong("it has %d parts, and not %d: %s", len(parts), fingerprintParts, fingerprintForm)
	}
	body := text[:strings.LastIndexByte(text, '_')]
	if given, is := parts[8], checkSum(body); given != is {
		return wrong("its check sum is %q, but that of the text before it is %s: "+
			"a character is missing, wrong or too many", shortened(given), is)
	}
	f := Fingerprint{ID: parts[1], Regions: parts[5] == inRegions}
	if !uuid.MatchString(f.ID) {
		return wrong("%q is not a UUID", shortened(f.ID))
	}
	var err error
	if f.Layout, err = generator.ParseLayout(strings.ReplaceAll(parts[2], "-", "/")); err != nil {
		return wrong("%v", err)
	}
	if f.Layout.Epoch, err = time.Parse(time.RFC3339Nano, parts[3]); err != nil {
		return wrong("%q is not an instant like 2024-01-01T00:00:00Z", shortened(parts[3]))
	}
	if f.Layout.Unit, err = time.ParseDuration(parts[4]); err != nil {
		return wrong("%q is not a length of time like 1ms", shortened(parts[4]))
	}
	if f.DatabaseWorkers, err = strconv.Atoi(parts[6]); err != nil || f.DatabaseWorkers < 1 {
		return wrong("%q is not a number of workers", shortened(parts[6]))
	}
	if f.Foreign, err = ParseRanges(parts[7]); err != nil {
		return wrong("%v", err)
	}
	f.Layout.Epoch = f.Layout.Epoch.UTC()
	switch err := f.Layout.Validate(); {
	case err != nil:
		return wrong("%v", err)
	case f.Regions && f.Layout.DatacenterBits == 0:
		return wrong("layout %v has no datacenter bits, so there can be no regions", f.Layout)
	case f.String() != text:
		return wrong("the same is written %s", f)
	}
	return f, nil
}

// shortened limits the user's text in a message to one line.
func shortened(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// A fingerprintError says what is wrong with the text of a fingerprint.
type fingerprintError struct{ what string }

func (e *fingerprintError) Error() string { return "the fingerprint is not usable: " + e.what }

// Kind says that an argument is wrong.
func (e *fingerprintError) Kind() fault.Kind { return fault.Usage }

// Hint says where to get the fingerprint.
func (e *fingerprintError) Hint() string {
	return `Copy it whole, as "pgflurry namespace show --database URL" prints it for a region of the ID space.`
}
