package admin

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgflurry/internal/fault"
	"pgflurry/internal/report"
)

// A Warning asks a person to act.
type Warning struct {
	Kind   string // a stable name, such as "reserve"
	Severe bool   // IDs do not come from memory, or soon will not; or new sessions are refused
	What   string // what is wrong, a sentence
	Why    string // the cause as in the log; it may quote PostgreSQL; may be empty
	Do     string // what to do, a sentence
	// Commands to run, at least one. URL stands for the lease database's, if Do names no other database.
	Commands []string
}

// The limits at which warnings begin.
const (
	// Below a third of the window, two renewals in a row have failed.
	shortReserve = 3
	// A renewal is due after 20 s at most, and each attempt ends after 5 s. So after this time several have failed.
	lateRenewal = time.Minute
	// A clock that is ahead by less catches up within a second. On a busy network that is normal.
	clockNotable = 100 * time.Millisecond
	// A healthy function may be up to a second ahead of the clock.
	functionNotable = 2 * time.Second
	layoutEndsSoon  = 365 * 24 * time.Hour
	// as long as the alert PgflurryLeaseLost
	lostNotable     = 15 * time.Minute
	certificateEnds = 14 * 24 * time.Hour
)

const (
	listWorkers = "pgflurry workers list --database URL"
	showStatus  = "pgflurry migrate status --database URL"
)

// Warnings lists what is wrong, the worst first.
func Warnings(s report.State) []Warning {
	var severe, others []Warning
	for _, find := range []func(report.State) []Warning{
		leaseWarnings, forgottenWarnings, serverWarnings, lostWarnings, reserveWarnings, lateWarnings, gateWarnings,
		freeWarnings,
		clockWarnings, functionWarnings,
		primaryWarnings, upstreamWarnings, databaseWarnings, certificateWarnings, layoutWarnings, sessionWarnings,
		reloadWarnings,
		idWarnings,
	} {
		for _, w := range find(s) {
			if w.Severe {
				severe = append(severe, w)
			} else {
				others = append(others, w)
			}
		}
	}
	return append(severe, others...)
}

// leaseWarnings say why there is no lease. The reasons gate and none_free have their own warnings.
func leaseWarnings(s report.State) []Warning {
	l := s.Lease
	if l.Held || s.Draining || l.Reason == fault.Gate || l.Reason == fault.NoneFree {
		return nil
	}
	w := Warning{
		Kind: "no_lease", Severe: true, What: "No worker is held: " + whyNone(s) + ".", Why: l.Cause,
		Do: l.Hint, Commands: []string{showStatus},
	}
	row := fault.Of(l.Reason)
	if l.Reason == fault.Copy {
		w.Kind = "copy"
	}
	w.Do = cmp.Or(row.Do, w.Do)
	if len(row.Commands) > 0 {
		w.Commands = nil
	}
	for _, command := range row.Commands {
		w.Commands = append(w.Commands, strings.ReplaceAll(command, "WORKER", strconv.Itoa(l.Worker)))
	}
	if w.Do == "" {
		w.Do = "Look whether the lease database answers, and what it says. The proxy goes on trying by itself."
	}
	return []Warning{w}
}

// forgottenWarnings say, for an hour, that the database has lost writes that it had acknowledged.
func forgottenWarnings(s report.State) []Warning {
	l := s.Lease
	if l.Forgotten == 0 || s.At.Sub(l.ForgottenAt) > time.Hour {
		return nil
	}
	return []Warning{{
		Kind: "forgotten", Severe: true,
		What: fmt.Sprintf("The lease database went back: %s ago it had forgotten a write that it had acknowledged.",
			lasting(s.At.Sub(l.ForgottenAt))),
		Do: "It was failed over to an asynchronous standby, replaced by an old copy, or restored. IDs stay unique: " +
			"the gate is closed, and no database can join. Look at which server this is, and what else it has lost.",
		Commands: []string{showStatus},
	}}
}

// serverWarnings say that a server is not known: it may be a copy that nobody has declared.
func serverWarnings(s report.State) []Warning {
	var all []Warning
	for _, why := range newServers(s) {
		all = append(all, Warning{
			Kind: "new_server", Severe: true, Why: why, Do: fault.NewServer.Do, Commands: fault.NewServer.Commands,
			What: "A server is not known. It may be a copy beside its original, and then IDs come twice.",
		})
	}
	return all
}

// newServers says why servers are not known, each once.
func newServers(s report.State) (all []string) {
	for _, d := range s.Databases {
		all = append(all, d.NewServer)
	}
	all = append(all, s.Workers.NewServer)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(why string) bool { return why == "" })
}

// lostWarnings say for a while that a worker was lost, although the proxy has another one.
func lostWarnings(s report.State) []Warning {
	l := s.Lease
	if !l.Held || l.LostAt.IsZero() || s.At.Sub(l.LostAt) > lostNotable {
		return nil
	}
	return []Warning{{
		Kind: "lost", Why: l.Lost, Commands: []string{listWorkers},
		What: fmt.Sprintf("A worker was lost %s ago. The proxy has another one.", lasting(s.At.Sub(l.LostAt))),
		Do:   "Look whether somebody retired it. If this recurs, two proxies share state, or one is paused.",
	}}
}

// lateWarnings warn of a lease that is not renewed although much of a long window is left.
func lateWarnings(s report.State) []Warning {
	l := s.Lease
	late := s.At.Sub(l.Renewed)
	if !l.Held || !l.Granted || s.Draining || late <= lateRenewal || l.Reserve < l.Window/shortReserve {
		return nil
	}
	w := Warning{
		Kind: "late", Why: l.Cause, Do: l.Hint, Commands: []string{showStatus},
		What: fmt.Sprintf("PostgreSQL last acknowledged the lease %s ago. IDs last %s more.", lasting(late),
			lasting(l.Reserve)),
	}
	if w.Do == "" {
		w.Do = "Look whether the lease database answers this machine. The proxy goes on trying by itself."
	}
	return []Warning{w}
}

// reserveWarnings warn that IDs end soon. The first windows after a start are short, and renewed often.
func reserveWarnings(s report.State) []Warning {
	l := s.Lease
	renewing := l.Reason == "" && s.At.Sub(l.Renewed) <= l.Window/shortReserve
	switch {
	case !l.Granted || s.Draining || l.Reserve >= l.Window/shortReserve, l.Held && renewing,
		!l.Held && l.Reserve <= 0: // there is a warning for the missing lease
		return nil
	}
	w := Warning{
		Kind: "reserve", Severe: true, Why: l.Cause, Do: l.Hint, Commands: []string{showStatus, listWorkers},
		What: fmt.Sprintf("IDs last %s, under a third of the window of %s.", lasting(l.Reserve), lasting(l.Window)),
	}
	if l.Reserve <= 0 {
		w.What = fmt.Sprintf("The reserve is used up. The last renewal was %s ago.", lasting(s.At.Sub(l.Renewed)))
	}
	if w.Do == "" {
		w.Do = "Renewals fail. Look whether the lease database answers this machine."
	}
	return []Warning{w}
}

func gateWarnings(s report.State) []Warning {
	opens := s.Workers.Opens
	if s.Lease.Reason == fault.Gate && s.Lease.Opens.After(opens) {
		opens = s.Lease.Opens
	}
	if s.Lease.Reason != fault.Gate && !opens.After(s.At) {
		return nil
	}
	w := Warning{
		Kind: "gate", Severe: !s.Lease.Held, What: "The gate is closed: no worker is granted now.",
		Do: "It closes after a failover or a restore, and opens by itself. After a restore from a backup, " +
			"make the table safe first; that begins the wait anew.",
		Commands: []string{listWorkers, "pgflurry workers reseed --database URL"},
	}
	if opens.After(s.At) {
		w.What = fmt.Sprintf("The gate is closed until %s, for %s: no worker is granted before.",
			instant(opens), lasting(opens.Sub(s.At)))
	}
	if s.Lease.Reason == fault.Gate {
		w.Why = s.Lease.Cause
	}
	return []Warning{w}
}

func freeWarnings(s report.State) []Warning {
	needed := s.Lease.Reason == fault.NoneFree
	if !needed && (s.Workers.Read.IsZero() || s.Workers.Counts["free"] > 0) {
		return nil
	}
	w := Warning{
		Kind: "none_free", Severe: needed && !s.Lease.Held, What: "No worker is free: another proxy would get none.",
		Do:       "Stop a proxy that nobody uses. Its worker is free when its reservation has passed.",
		Commands: []string{listWorkers},
	}
	if needed {
		w.What, w.Why = "No worker is free.", s.Lease.Cause
		if opens := s.Lease.Opens; opens.After(s.At) {
			w.What = fmt.Sprintf("No worker is free; the next one is at %s, in %s, if its holder is gone.",
				instant(opens), lasting(opens.Sub(s.At)))
		}
	}
	return []Warning{w}
}

func clockWarnings(s report.State) []Warning {
	c := s.Clock
	if c.Ahead < clockNotable {
		return nil
	}
	if c.Ahead > s.Lease.Window {
		return []Warning{{
			Kind: "clock_ahead",
			What: fmt.Sprintf("IDs are %s ahead of the database's clock, which must have stood ahead once.",
				fine(c.Ahead)),
			Do: fmt.Sprintf("If that clock is right now, restart this proxy, which then takes another worker, "+
				"and retire worker %d.", s.Lease.Worker),
			Commands: []string{fmt.Sprintf("pgflurry workers retire %d --database URL", s.Lease.Worker)},
		}}
	}
	if !c.Slowed {
		return nil
	}
	return []Warning{{
		Kind: "clock_slowed",
		What: fmt.Sprintf("The clock of IDs is slowed: it is %s ahead of the database's, and runs at 9/10 speed "+
			"until they meet, in about %s.", fine(c.Ahead), fine(10*c.Ahead)),
		Do:       "Look whether the database's clock was set back. IDs stay unique and in order.",
		Commands: []string{`psql URL -c "SELECT clock_timestamp()"`},
	}}
}

func functionWarnings(s report.State) []Warning {
	ahead := s.Workers.FunctionAhead
	if ahead < functionNotable {
		return nil
	}
	return []Warning{{
		Kind: "function_ahead",
		What: fmt.Sprintf("IDs of the function in the lease database are %s ahead of its clock. "+
			"Callers wait, or get SNF01.", fine(ahead)),
		Do:       "If that clock is right now, and it is too long to wait, give the function another worker.",
		Commands: []string{"pgflurry namespace set --database URL --fresh-worker"},
	}}
}

func databaseWarnings(s report.State) []Warning {
	var all []Warning
	for _, d := range s.Databases {
		if d.IDs == "none" {
			all = append(all, Warning{
				Kind: "database", Severe: nobodyAnswered(s), Why: d.IDsWhy, Commands: []string{showStatus},
				What: fmt.Sprintf("Sessions to database %s get no IDs from memory.", oneLine(d.Name)),
				Do:   strings.TrimSpace(d.IDsHint + " URL is that of database " + oneLine(d.Name) + "."),
			})
		}
	}
	return all
}

func certificateWarnings(s report.State) []Warning {
	var all []Warning
	for _, c := range s.Certificates {
		left := c.Until.Sub(s.At)
		if left > certificateEnds {
			continue
		}
		w := Warning{
			Kind: "certificate",
			What: fmt.Sprintf("The certificate in %s ends at %s, in %s.",
				oneLine(c.File), instant(c.Until), lasting(left)),
			Do: "Put a new one in its place, then have the proxy read it again. Open sessions do not notice.",
			Commands: []string{
				"openssl x509 -noout -subject -enddate -in " + quoted(oneLine(c.File)), "kill -HUP $(pidof pgflurry)",
			},
		}
		if left <= 0 {
			w.What = fmt.Sprintf("The certificate in %s has expired at %s.", oneLine(c.File), instant(c.Until))
		}
		all = append(all, w)
	}
	return all
}

func layoutWarnings(s report.State) []Warning {
	end := s.Namespace.End
	if end.IsZero() || end.Sub(s.At) > layoutEndsSoon {
		return nil
	}
	w := Warning{
		Kind: "layout_end", Do: "Plan a new namespace.", Commands: []string{showStatus},
		What: fmt.Sprintf("The layout ends at %s, in %s. No ID can be given after it.",
			instant(end), lasting(end.Sub(s.At))),
	}
	if !end.After(s.At) {
		w.Severe = true
		w.What = fmt.Sprintf("The layout has ended at %s. No ID can be given.", instant(end))
	}
	return []Warning{w}
}

func sessionWarnings(s report.State) []Warning {
	if !s.Sessions.Full || s.Draining {
		return nil
	}
	return []Warning{{
		Kind:     "sessions",
		What:     fmt.Sprintf("All %s are taken: one more client is turned away.", withNoun(s.Sessions.Limit, "place")),
		Do:       "Raise --max-connections, and max_connections of PostgreSQL, or let clients share sessions.",
		Commands: []string{fmt.Sprintf("pgflurry serve --max-connections %d …", 2*s.Sessions.Limit)},
	}}
}

func reloadWarnings(s report.State) []Warning {
	if s.NotReloaded == "" {
		return nil
	}
	return []Warning{{
		Kind: "reload", Why: oneLine(s.NotReloaded),
		What:     "A new configuration was refused. The one of " + instant(s.Reloaded) + " holds.",
		Do:       "Mend it and reload again: with this one the proxy would not start.",
		Commands: []string{"pgflurry serve --check-config …"},
	}}
}

// quoted quotes a word for a shell.
func quoted(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("/._-", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
