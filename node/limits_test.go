package node

import (
	"strings"
	"testing"

	"pgflurry/proxy"
)

func TestStrangersGetHalfOfWhatDescriptorsAllow(t *testing.T) {
	for _, c := range []struct{ descriptors, logins, clients, want int }{
		{0, 512, 0, 512}, // the process has no limit
		{0, 0, 0, 0},
		{20_036, 512, 10_000, 512},
		{1_036, 512, 500, 250},
		{1_036, 0, 500, 250},
		{10, 512, 1, 1},
	} {
		var s proxy.Settings
		Limits{MaxLogins: c.logins}.apply(&s, 1, 0, c.descriptors)
		if s.MaxClients != c.clients || s.MaxLogins != c.want {
			t.Errorf("with %d descriptors and --max-logins %d: %d clients and %d logins; expected %d and %d",
				c.descriptors, c.logins, s.MaxClients, s.MaxLogins, c.clients, c.want)
		}
	}
}

func TestALimitBelowZeroIsRefusedWithWhatZeroMeans(t *testing.T) {
	for says, l := range map[string]Limits{
		"--max-connections is -1; expected 0 for no limit,":                   {MaxConnections: -1},
		"--max-logins is -1; expected 0 for half of all":                      {MaxLogins: -1},
		"--max-logins-per-address is -1; expected 0 for no limit of its own,": {MaxLoginsPerAddress: -1},
		"--login-timeout is -1ns; expected at least 1ms, such as 60s, or 0":   {LoginTimeout: -1},
		"--login-timeout is 1ns; expected at least 1ms":                       {LoginTimeout: 1},
		"--client-tls-timeout is -1ns; expected at least 1ms, such as 5s":     {ClientTLSTimeout: -1},
	} {
		if err := l.check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, expected %s", err, says)
		}
	}
}
