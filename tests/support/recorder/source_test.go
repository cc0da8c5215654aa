package recorder

import (
	"strings"
	"testing"
	"time"
)

func TestAnIDThatComesTwiceNamesBothWhoGotIt(t *testing.T) {
	s := NewSources("", 0)
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	id := func(tick, worker, n int64) int64 { return tick<<22 | worker<<12 | n }
	if twice := s.AddFrom("the first", at, id(1000, 7, 1), id(1000, 7, 2), id(1001, 7, 1)); twice != nil {
		t.Fatal(twice)
	}
	if twice := s.AddFrom("another worker's", at, id(999, 8, 1), id(1002, 8, 1)); twice != nil {
		t.Fatal(twice)
	}
	if twice := s.AddFrom("the first", at.Add(5*time.Second), id(2000, 7, 1)); twice != nil {
		t.Fatal(twice)
	}
	twice := s.AddFrom("the second", at.Add(time.Minute), id(1000, 7, 3), id(1000, 7, 2), id(1000, 7, 4))
	if len(twice) != 1 {
		t.Fatalf("got %v, expected one error", twice)
	}
	want := "now to the second at 12:01:00.000; before, it was among the IDs of " +
		"the first from 12:00:00.000 to 12:00:00.000"
	if got := twice[0].Error(); !strings.Contains(got, want) || strings.Contains(got, "another") {
		t.Errorf("got %q, expected it to say %q", got, want)
	}
	if s.Len() != 8 {
		t.Errorf("%d IDs, expected 8: those behind it, too", s.Len())
	}
	if twice := s.AddFrom("the third", at, -5); len(twice) != 1 {
		t.Errorf("-5 was recorded: %v", twice)
	}
}
