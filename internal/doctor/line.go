package doctor

import (
	"fmt"
	"strings"
)

// Line is the answer in one line, for an issue. It names no host, no database and no role.
func Line(f Facts, checks []Check, after bool, program string) string {
	p := providerOf(f).name
	if p == "" {
		p = "plain"
	}
	parts := []string{fmt.Sprintf("doctor %s: PostgreSQL %s", program, strings.Fields(f.Version + " ?")[0]), p}
	short := func(name, found string) { parts = append(parts, name+" "+found) }
	yes := func(s Shown) string {
		if s.Value != "" {
			return "shown"
		}
		return "hidden"
	}
	short("timeline", yes(f.Timeline))
	short("system identifier", yes(f.System))
	for _, name := range []string{"fsync", "synchronous_commit"} {
		short(name, orUnknown(f.Settings[name]))
	}
	standby := "empty"
	if f.Settings["synchronous_standby_names"] != "" {
		standby = "set"
	}
	short("synchronous_standby_names", standby)
	for _, c := range checks {
		switch c.Name {
		case "what happened":
			event, _, _ := strings.Cut(c.Found, ";")
			short("after", event)
		case "unlogged sequences after", "WAL timeline after":
			short(c.Name+":", c.Found)
		}
	}
	if !after {
		short("unlogged sequences:", "not tried")
	}
	return strings.Join(parts, "; ")
}

func orUnknown(value string) string {
	if value == "" {
		return "unknown"
	}
	return value
}
