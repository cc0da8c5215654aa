package node

import (
	"testing"

	"pgflurry/internal/config"
	"pgflurry/proxy"
)

func TestStrangersGetHalfOfWhatDescriptorsAllow(t *testing.T) {
	for _, c := range []struct{ descriptors, logins, clients, want int }{
		{0, 512, 0, 512}, // the process has no limit
		{0, 0, 0, 0},
		{20_068, 512, 10_000, 512},
		{1_068, 512, 500, 250},
		{1_068, 0, 500, 250},
		{10, 512, 1, 1},
	} {
		var s proxy.Rules
		applyLimits(config.Limits{MaxLogins: c.logins}, &s, 1, 0, c.descriptors)
		if s.MaxClients != c.clients || s.MaxLogins != c.want {
			t.Errorf("with %d descriptors and --max-logins %d: %d clients and %d logins; expected %d and %d",
				c.descriptors, c.logins, s.MaxClients, s.MaxLogins, c.clients, c.want)
		}
	}
}
