package watch

import (
	"testing"
	"time"
)

func TestLooksThatFindTwoPlacesEndTheAnswersUntilAllAgreeForAMinute(t *testing.T) {
	for name, looks := range map[string][]struct {
		at            time.Duration
		place         string
		moved, agreed bool
	}{
		"one place": {{0, "a", false, true}, {2, "a", false, true}},
		"a switch": {
			{0, "a", false, true}, {2, "b", true, false}, {61, "b", false, false}, {62, "b", false, true},
		},
		"by turns": {
			{0, "a", false, true},
			{2, "b", true, false},
			{50, "a", true, false},
			{63, "a", false, false},
			{110, "a", false, true},
			{111, "b", true, false},
		},
		"a standby makes no statement": {
			{0, "a", false, true},
			{2, "", false, true},
			{4, "a", false, true},
			{6, "b", true, false},
			{8, "", false, false},
			{66, "", false, true},
			{68, "b", false, true},
		},
		"the first look": {{0, "", false, true}, {2, "b", false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			var p places
			for _, l := range looks {
				moved, agreed := p.seen(l.place, l.at*time.Second)
				if moved != l.moved || agreed != l.agreed {
					t.Errorf("at %d s, place %q: moved %t, agreed %t; want %t, %t",
						l.at, l.place, moved, agreed, l.moved, l.agreed)
				}
			}
		})
	}
}
