package doctor

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Verdict says what a finding means for pgflurry.
type Verdict string

// The verdicts, the best first.
const (
	OK      Verdict = "ok"
	Unknown Verdict = "not known"
	Warning Verdict = "warning"
	Fails   Verdict = "fails"
)

// A Check is one row of the answer.
type Check struct {
	Name, Found string
	Verdict     Verdict
	Advice      string // what to do; empty: nothing
}

// skew is how far the clocks of two servers may be apart, unless a namespace says otherwise.
const skew = 2 * time.Second

// Judge says what the facts of one look mean.
func Judge(f Facts) []Check {
	return []Check{
		version(f), providerCheck(f), migrate(f), lease(f), database(f), sequences(f), timeline(f), identifier(f),
		durable(f), replicated(f), ofRole(f), clock(f), connections(f), wire(f),
	}
}

func version(f Facts) Check {
	c := Check{"version", "PostgreSQL " + f.Version, OK, ""}
	if f.Number < 150000 {
		c.Verdict, c.Advice = Fails, "Upgrade to PostgreSQL 15 or newer: older ones have no unlogged sequences."
	} else if f.Standby {
		c.Found += ", a standby"
		c.Verdict, c.Advice = Warning, "Give the URL of the primary: a standby tells less, and gives no IDs."
	}
	return c
}

func providerCheck(f Facts) Check {
	p := providerOf(f)
	if p.name == "" {
		return Check{"provider", "none shows", OK, ""}
	}
	return Check{"provider", p.name, OK, ""}
}

func migrate(f Facts) Check {
	c := Check{"owner's rights", fmt.Sprintf("role %q may run \"migrate up\"", f.Role), OK, ""}
	if f.MayMigrate != "" {
		c.Found, c.Verdict = f.MayMigrate, Warning
		c.Advice = "A role that only leases need not. To migrate, use the owner of the database."
	}
	return c
}

func lease(f Facts) Check {
	const name = "lease role's rights"
	switch {
	case !f.Migrated:
		return Check{name, "schema pgflurry is not there yet", Unknown, "Run it again after \"pgflurry migrate up\"."}
	case len(f.Lacking) > 0:
		return Check{
			name, fmt.Sprintf("role %q lacks %s", f.Role, strings.Join(f.Lacking, "; ")), Warning,
			fmt.Sprintf("To lease with this role, run as the owner: CALL pgflurry.grant_lease('%s');",
				strings.ReplaceAll(f.Role, "'", "''")),
		}
	}
	return Check{name, fmt.Sprintf("role %q may lease", f.Role), OK, ""}
}

func database(f Facts) Check {
	const name = "database"
	const status = "\"pgflurry migrate status --database URL\" says how to go on."
	switch {
	case !f.Migrated:
		return Check{name, fmt.Sprintf("%q, not migrated", f.Database), OK, ""}
	case f.Namespace != "":
		return Check{name, f.Namespace, Unknown, status}
	case f.Copied != "":
		return Check{name, f.Copied, Fails, status}
	case f.Closed:
		return Check{name, fmt.Sprintf("%q is closed", f.Database), Fails, status}
	case f.Weak != "":
		return Check{name, "guards that do not hold: " + f.Weak, Fails, "Run: pgflurry migrate up --database URL"}
	}
	return Check{name, fmt.Sprintf("%q, migrated, the original", f.Database), OK, ""}
}

// sequences is about a crash: only two looks show what it does.
func sequences(f Facts) Check {
	const name = "unlogged sequences"
	const try = "To see what a crash or failover does: doctor --before FILE, then --after FILE."
	switch p := providerOf(f); {
	case f.Lane.Value != "" && f.Lane.Value != "u":
		return Check{name, "pgflurry.lane is logged", Warning, "IDs are unique, but slower to make."}
	case p.keeps:
		return Check{name, "survive a crash, as its documents say", Unknown, try}
	}
	return Check{name, "one look does not show what a crash does", Unknown, try}
}

func timeline(f Facts) Check {
	if f.Timeline.Value != "" {
		return Check{"WAL timeline", f.Timeline.Value, OK, ""}
	}
	c := Check{
		"WAL timeline", "not shown: " + f.Timeline.Why, Warning,
		"After a failover that loses writes, no 120 s are waited. Use a server whose failover loses none.",
	}
	if f.Standby {
		c.Verdict, c.Advice = Unknown, ""
	}
	return c
}

func identifier(f Facts) Check {
	if f.System.Value != "" {
		return Check{"system identifier", f.System.Value, OK, ""}
	}
	return Check{
		"system identifier", "not shown: " + f.System.Why, Warning,
		"A copy of the files on another server is not noticed by it. Declare each copy before it draws.",
	}
}

func durable(f Facts) Check {
	const name = "durability"
	c := Check{name, "", OK, ""}
	var found []string
	for _, setting := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		if value, is := f.Settings[setting]; is {
			found = append(found, setting+" "+value)
		}
	}
	c.Found = strings.Join(found, ", ")
	switch commit := f.Settings["synchronous_commit"]; {
	case f.Settings["fsync"] == "":
		c.Found, c.Verdict = "fsync is not shown", Unknown
	case f.Settings["fsync"] == "off" && providerOf(f).name == "Neon":
		// Its documents say that the storage below keeps what was acknowledged.
	case f.Settings["fsync"] == "off":
		c.Verdict, c.Advice = Fails, "Set fsync = on. A crash of the machine can lose what was acknowledged (A1)."
	case f.Settings["full_page_writes"] == "off":
		c.Verdict, c.Advice = Warning, "Set full_page_writes = on, unless the storage writes whole pages."
	case commit == "off" || commit == "local":
		c.Verdict = Warning
		c.Advice = "A crash or failover can lose acknowledged rows. Leases set their own, and are not affected."
	}
	return c
}

func replicated(f Facts) Check {
	names := f.Settings["synchronous_standby_names"]
	c := Check{"replication", fmt.Sprintf("%d seen, synchronous_standby_names %q", f.Standbys, names), OK, ""}
	switch {
	case names == "" && f.Standbys > 0:
		c.Verdict = Warning
		c.Advice = "A failover to an asynchronous standby loses writes (A1). Replicate synchronously."
	case names == "":
		c.Found = "no standby seen, no commit waits for one"
		c.Verdict = Unknown
		c.Advice = "The server does not show how its provider fails over: see docs/install.md."
	}
	return c
}

// ofRole is about settings of the role or the database that change what a session of pgflurry meets.
func ofRole(f Facts) Check {
	c := Check{"role's settings", "as usual", OK, ""}
	var unusual []string
	for _, setting := range []string{
		"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout", "transaction_timeout",
	} {
		if value := f.Settings[setting]; value != "" && value != "0" {
			unusual = append(unusual, setting+" "+value+" ms")
		}
	}
	if len(unusual) > 0 {
		c.Found = strings.Join(unusual, ", ")
	}
	switch {
	case f.Settings["session_replication_role"] == "replica":
		c.Found, c.Verdict = "session_replication_role replica", Fails
		c.Advice = fmt.Sprintf("As a superuser run: ALTER ROLE %q RESET session_replication_role;", f.Role)
	case f.Settings["default_transaction_read_only"] == "on":
		c.Found, c.Verdict = "default_transaction_read_only on", Warning
		c.Advice = "next_snowflake() fails with 25006 in a read-only transaction. Leases set their own."
	}
	return c
}

// clock compares the server's clock with this machine's. The middle of the round trip is off by half of it at most.
func clock(f Facts) Check {
	ahead := f.Clock.Sub(f.Here)
	within := f.RoundTrip / 2
	found := fmt.Sprintf("%+.3f s from this machine's, within %.3f s", ahead.Seconds(), within.Seconds())
	c := Check{"clock", found, OK, ""}
	if ahead.Abs() > skew+within {
		c.Verdict = Warning
		c.Advice = "One of the two is wrong. A server's clock must not be behind that of the one that it replaces."
	}
	return c
}

// fewSessions are those of a proxy at rest, and some for a migration and for a look.
const fewSessions = 10

func connections(f Facts) Check {
	limit, err := strconv.Atoi(f.Settings["max_connections"])
	if err != nil {
		return Check{"connections", "the limit is not shown", Unknown, ""}
	}
	c := Check{"connections", fmt.Sprintf("%d of %d in use", f.Sessions, limit), OK, ""}
	if limit-f.Sessions < fewSessions {
		c.Verdict = Warning
		c.Advice = "A proxy has up to eight of its own, beside its clients'. Raise max_connections or use a pooler."
	}
	return c
}

func wire(f Facts) Check {
	found := "plain text"
	if f.TLS {
		found = "TLS"
	}
	c := Check{"connection", found, OK, ""}
	if f.Pooled {
		c.Found += ", through a pooler"
		c.Verdict, c.Advice = Warning, "Run migrate and doctor on PostgreSQL itself, or in session mode."
	} else if !f.TLS && !f.Local {
		c.Verdict, c.Advice = Warning, "Passwords and IDs can be read on the way. Use sslmode=verify-full."
	}
	return c
}

// Worst is the worst verdict.
func Worst(checks []Check) Verdict {
	order := []Verdict{OK, Unknown, Warning, Fails}
	worst := 0
	for _, c := range checks {
		for i, v := range order {
			if c.Verdict == v {
				worst = max(worst, i)
			}
		}
	}
	return order[worst]
}
