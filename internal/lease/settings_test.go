package lease

import (
	"strings"
	"testing"
	"time"
)

func TestSettingsAreCheckedAgainstEachOtherAndBothValuesAreNamed(t *testing.T) {
	good := Settings{Namespace: "n", Store: &script{}, Issuer: &script{}, Clock: NewClock(time.Second), Node: "node"}
	for _, c := range []struct {
		spoil func(*Settings)
		words []string
	}{
		{func(s *Settings) { s.Store = nil }, []string{"store"}},
		{func(s *Settings) { s.Namespace = "" }, []string{"namespace"}},
		{func(s *Settings) { s.Node = "" }, []string{"node", "1 to 255"}},
		{func(s *Settings) { s.Node = strings.Repeat("x", 256) }, []string{"256"}},
		{func(s *Settings) { s.Version = strings.Repeat("x", 256) }, []string{"255"}},
		{func(s *Settings) { s.Window, s.FirstWindow = 10*time.Second, 20*time.Second }, []string{"10s", "20s"}},
		{func(s *Settings) { s.FirstWindow = 600 * time.Millisecond }, []string{"600ms", "one tick of 1s"}},
	} {
		settings := good
		c.spoil(&settings)
		_, err := NewKeeper(settings)
		if err == nil {
			t.Errorf("no error, expected one with %q", c.words)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("error %q lacks %q", err, word)
			}
		}
	}
	if _, err := NewKeeper(good); err != nil {
		t.Errorf("good settings: %v", err)
	}
}
