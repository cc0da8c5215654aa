package admin

import (
	"fmt"
	"strings"

	"pgflurry/internal/report"
)

// primaryWarnings warn that no host is the primary, and of hosts that do not answer properly.
func primaryWarnings(s report.State) []Warning {
	hosts := s.Upstreams.Hosts
	if hosts == nil || s.Draining {
		return nil
	}
	said := make([]string, len(hosts))
	var all []Warning
	for i, h := range hosts {
		said[i] = h.Name + ": " + h.Says
		if h.Trouble != "" {
			all = append(all, Warning{
				Kind: "upstream_host", Why: oneLine(h.Says), Commands: []string{askRecovery(h.Name)},
				What: fmt.Sprintf("Of %s: %s.", oneLine(h.Name), oneLine(h.Trouble)),
				Do:   "Look at that server. Sessions go to the primary meanwhile.",
			})
		}
	}
	if s.Upstreams.Since.IsZero() {
		return []Warning{{
			Kind: "no_primary", Severe: true,
			Why: oneLine(strings.Join(said, "; ")), Commands: []string{askRecovery(hosts[0].Name)},
			What: "No host of --upstream says that it is the primary: new sessions are refused.",
			Do:   "Look whether a failover is under way. The proxy asks each host several times a second.",
		}}
	}
	return all
}

// upstreamWarnings warn that PostgreSQL is away, if nobody chooses among hosts.
func upstreamWarnings(s report.State) []Warning {
	if s.Upstreams.Hosts != nil || s.Draining || !upstreamAway(s) {
		return nil
	}
	first, _, _ := strings.Cut(s.Upstream, ",")
	return []Warning{{
		Kind: "upstream", Severe: true, Why: oneLine(s.Databases[0].Away), Commands: []string{askRecovery(first)},
		What: "PostgreSQL does not answer: new sessions are refused.",
		Do:   "Look whether it runs, and answers this machine. Open sessions get IDs while this proxy has any.",
	}}
}

// askRecovery is a command that asks a host directly.
func askRecovery(host string) string {
	name, port := oneLine(host), ""
	if i := strings.LastIndexByte(name, ':'); i >= 0 && !strings.HasPrefix(name, "/") {
		name, port = name[:i], " -p "+name[i+1:]
	}
	return fmt.Sprintf("psql -h '%s'%s -c 'SELECT pg_is_in_recovery()'", strings.ReplaceAll(name, "'", `'\''`), port)
}
