package idserver

import (
	"strings"
	"testing"
	"time"
)

// Wrong passwords that a name has at once, and then one in each interval.
const (
	nameBurst    = 10
	nameInterval = 5 * time.Second
)

func TestWhoTriesTooOftenIsRefusedBeforeThePasswordAndOthersGoOn(t *testing.T) {
	h := newHall(t)
	texts := make(map[string]bool)
	for _, name := range []string{"ann", "nob"} {
		for range nameBurst {
			v := h.knocks(name)
			v.proves("wrong")
			v.refused("28P01", "")
		}
		v := h.knocks(name) // with the right password or without
		m := v.refused("28000", `too many wrong passwords for user "`+name+`" from this address`)
		if m.Hint != "Wait 5 s. Then connect with the right password." {
			t.Errorf("hint %q", m.Hint)
		}
		if strings.Contains(string(v.heard), "SCRAM") {
			t.Errorf("the password was asked for: %q", v.heard)
		}
		texts[masked(v.heard, name)] = true
	}
	if len(texts) != 1 {
		t.Errorf("names are told apart: %v", texts)
	}
	other := h.knocks("bob")
	other.enters(password)
	other.leaves()
	h.clock.Add(int64(nameInterval))
	v := h.knocks("ann")
	v.enters(password)
	v.leaves()
	h.empties()
	h.counts("attempts", 2)
}

// The exchange began before others used up the burst.
func TestManyAttemptsAtOnceAreNotManyGuesses(t *testing.T) {
	h := newHall(t)
	var all []*client
	for range 2 * nameBurst {
		v := h.knocks("ann")
		v.begins()
		all = append(all, v)
	}
	codes := make(map[string]int)
	for _, v := range all {
		nonce := string(v.heard[strings.Index(string(v.heard), "r=")+2:])
		nonce, _, _ = strings.Cut(nonce, ",")
		proof := strings.Repeat("A", 43) + "="
		v.send(passwordMessage([]byte("c=biws,r=" + nonce + ",p=" + proof)))
		codes[v.fatal().Code]++
	}
	if codes["28P01"] != nameBurst || codes["28000"] != nameBurst {
		t.Errorf("the clients read %v; expected %d wrong passwords, and that there are too many", codes, nameBurst)
	}
}

func TestARightPasswordGivesNoFreshBurst(t *testing.T) {
	h := newHall(t)
	for i := range nameBurst {
		v := h.knocks("ann")
		v.proves("wrong")
		v.refused("28P01", "")
		if i == nameBurst-2 {
			v = h.knocks("ann")
			v.enters(password)
			v.leaves()
		}
	}
	h.knocks("ann").refused("28000", "too many wrong passwords")
}
