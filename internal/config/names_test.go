package config

import (
	"strings"
	"testing"
)

func TestNamesOfANodeFitTheWorkerTableAndALineOfALog(t *testing.T) {
	for name, good := range map[string]bool{
		"proxy-1": true, "Köln, Gerät 7": true, "u@h": true, "a\x00b": false, "a\nb": false, "a\x7f": false,
		"\xff": false, "a\u0085b": false, "postgres://u:geheim@h/d": false,
	} {
		s := withIDs(func(s *Given) { s.Name = name })
		err := s.checkLease()
		if (err == nil) != good || err != nil && (!strings.Contains(err.Error(), "--node is") ||
			strings.Contains(err.Error(), "geheim")) {
			t.Errorf("--node %q: %v", name, err)
		}
		s = withIDs(func(s *Given) { s.Advertise = name })
		if err := s.checkLease(); good && name != "u@h" && err != nil || !good && err == nil {
			t.Errorf("--advertise %q: %v", name, err)
		}
	}
}

func TestNamesOfDatabasesHaveNoControlCharacter(t *testing.T) {
	for name, good := range map[string]bool{"app": true, "Köln 7": true, "app\nnext": false, "a\x7f": false} {
		s := withIDs(func(s *Given) { s.Databases = []string{name} })
		if err := s.checkDatabases(); (err == nil) != good {
			t.Errorf("--databases %q: %v", name, err)
		}
		_, err := ParseLease("host=h user=u dbname='" + name + "'")
		if (err == nil) != good || err != nil && strings.Contains(err.Error(), "next") {
			t.Errorf("--lease-database with %q: %v", name, err)
		}
	}
}
