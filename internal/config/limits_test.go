package config

import (
	"strings"
	"testing"
)

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
