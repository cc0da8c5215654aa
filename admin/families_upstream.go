package admin

import (
	"github.com/prometheus/client_golang/prometheus"

	"pgflurry/report"
)

// upstreamFamilies are the metrics of the hosts behind the proxy. Without --upstream-primary they have no samples.
var upstreamFamilies = []family{
	ofHosts("upstream_primary", "1 for the host of --upstream that is the primary, as far as is known; else 0.", gauge,
		[]string{"host"}, func(u report.Upstreams, put put) {
			for _, h := range u.Hosts {
				put(is(h.Primary), h.Name)
			}
		}),
	ofHosts("upstream_answered_timestamp_seconds", "When the host last said whether it is the primary.", gauge,
		[]string{"host"}, func(u report.Upstreams, put put) {
			for _, h := range u.Hosts {
				if !h.Heard.IsZero() {
					put(seconds(h.Heard), h.Name)
				}
			}
		}),
	ofHosts("upstream_primaries_total", "Primaries that were found, one after the other.", counter, nil,
		func(u report.Upstreams, put put) { put(float64(u.Found)) }),
}

// ofHosts makes one of them.
func ofHosts(
	name, help string, kind prometheus.ValueType, labels []string, read func(report.Upstreams, put),
) family {
	return family{name, help, kind, labels, func(s report.State, put put) {
		if s.Upstreams.Hosts != nil {
			read(s.Upstreams, put)
		}
	}}
}
