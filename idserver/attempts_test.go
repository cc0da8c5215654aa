package idserver

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgflurry/proxy/origin"
)

func prefix(t testing.TB, text string) netip.Prefix {
	t.Helper()
	return origin.Of(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text)))
}

func TestWrongPasswordsOfANameMayComeInABurstAndThenSlowly(t *testing.T) {
	a, here := newAttempts(noon), prefix(t, "10.1.2.3:5")
	now := noon
	for i := range ofName.burst {
		if wait, _ := a.wait(here, "ann", now); wait != 0 {
			t.Fatalf("attempt %d has to wait %s", i, wait)
		}
		a.wrong(here, "ann", now)
	}
	for range 3 {
		wait, all := a.wait(here, "ann", now)
		if wait != ofName.interval || all {
			t.Fatalf("wait %s, for all names %v; expected %s", wait, all, ofName.interval)
		}
		now = now.Add(wait)
		if wait, _ = a.wait(here, "ann", now); wait != 0 {
			t.Fatalf("wait %s after the wait", wait)
		}
		a.wrong(here, "ann", now)
	}
	if wait, _ := a.wait(here, "bob", now); wait != 0 {
		t.Errorf("another name has to wait %s", wait)
	}
	if wait, _ := a.wait(prefix(t, "10.1.2.4:5"), "ann", now); wait != 0 {
		t.Errorf("another address has to wait %s", wait)
	}
	now = now.Add(time.Duration(ofName.burst) * ofName.interval)
	for range ofName.burst {
		if wait, _ := a.wait(here, "ann", now); wait != 0 {
			t.Fatal("there is no burst after a rest")
		}
		a.wrong(here, "ann", now)
	}
}

func TestWrongPasswordsOfAnAddressAreLimitedWhateverTheNames(t *testing.T) {
	a := newAttempts(noon)
	for i := range ofAddress.burst {
		a.wrong(prefix(t, fmt.Sprintf("[2001:db8::%x]:5", i+1)), fmt.Sprint(i), noon)
	}
	wait, all := a.wait(prefix(t, "[2001:db8::ffff:1]:9"), "new", noon)
	if wait != ofAddress.interval || !all {
		t.Errorf("a new name from the same network: wait %s, for all names %v", wait, all)
	}
	for _, other := range []string{"[2001:db8:0:1::1]:5", "10.1.2.3:5"} {
		if wait, _ := a.wait(prefix(t, other), "new", noon); wait != 0 {
			t.Errorf("%s has to wait %s", other, wait)
		}
	}
	if wait, _ := a.wait(netip.Prefix{}, "new", noon); wait != 0 {
		t.Errorf("Unix sockets have to wait %s", wait)
	}
}

func TestWhatIsKeptOfWrongPasswordsIsBounded(t *testing.T) {
	a := newAttempts(noon)
	a.most = 100
	here := prefix(t, "10.1.2.3:5")
	for range 3 * ofName.burst {
		a.wrong(here, "ann", noon)
	}
	if wait, _ := a.wait(here, "ann", noon); wait > 2*time.Duration(ofName.burst)*ofName.interval {
		t.Errorf("a storm costs a wait of %s", wait)
	}
	for i := range 40 { // fewer than there is room for
		a.wrong(prefix(t, fmt.Sprintf("10.2.0.%d:5", i)), strings.Repeat("long", 1000), noon)
	}
	if wait, _ := a.wait(here, "ann", noon); wait == 0 {
		t.Error("what is new has driven out what is not old")
	}
	for i := range 10_000 {
		a.wrong(prefix(t, fmt.Sprintf("10.3.%d.%d:5", i/256, i%256)), "ann", noon)
		if n := len(a.debts); n > a.most || n != len(a.byTime) {
			t.Fatalf("%d are kept, %d in order; expected at most %d", n, len(a.byTime), a.most)
		}
	}
	if wait, _ := a.wait(here, "ann", noon); wait == 0 {
		t.Error("many small debts have driven out a large one")
	}
	if wait, _ := a.wait(prefix(t, "10.9.9.9:5"), "new", noon); wait != 0 {
		t.Errorf("a new address has to wait %s; expected that it may try once", wait)
	}
}

func TestManyAddressesThatTakeTurnsTryNoMorePasswordsThanEachMay(t *testing.T) {
	a := newAttempts(noon)
	a.most = 200
	const addresses, names = 40, 50
	tested := 0
	for round := range 2 * ofAddress.burst {
		for i := range addresses / 2 {
			from := prefix(t, fmt.Sprintf("10.2.%d.%d:5", round%2, i)) // two groups, one after the other
			for n := range names {
				name := fmt.Sprint("account ", n)
				if wait, _ := a.wait(from, name, noon); wait == 0 {
					a.wrong(from, name, noon)
					tested++
				}
			}
		}
	}
	if most := addresses * ofAddress.burst; tested > most || tested == 0 {
		t.Errorf("%d passwords were tested at once from %d addresses; expected at most %d", tested, addresses, most)
	}
}

func TestWhoTriesTooOftenIsRefusedBeforeThePasswordAndOthersGoOn(t *testing.T) {
	h := newHall(t)
	texts := make(map[string]bool)
	for _, name := range []string{"ann", "nob"} {
		for range ofName.burst {
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
	h.clock.Add(int64(ofName.interval))
	v := h.knocks("ann")
	v.enters(password)
	v.leaves()
	h.empties()
	h.counts("attempts", 2)
}

// The exchange began before others used up the burst.
func TestManyAttemptsAtOnceAreNotManyGuesses(t *testing.T) {
	h := newHall(t)
	var all []*visitor
	for range 2 * ofName.burst {
		v := h.knocks("ann")
		v.begins()
		all = append(all, v)
	}
	told := make(map[string]int)
	for _, v := range all {
		nonce := string(v.heard[strings.Index(string(v.heard), "r=")+2:])
		nonce, _, _ = strings.Cut(nonce, ",")
		proof := strings.Repeat("A", 43) + "="
		v.send(passwordMessage([]byte("c=biws,r=" + nonce + ",p=" + proof)))
		told[v.fatal().Code]++
	}
	if told["28P01"] != ofName.burst || told["28000"] != ofName.burst {
		t.Errorf("told %v; expected %d wrong passwords, and that there are too many", told, ofName.burst)
	}
}

func TestARightPasswordGivesNoFreshBurst(t *testing.T) {
	h := newHall(t)
	for i := range ofName.burst {
		v := h.knocks("ann")
		v.proves("wrong")
		v.refused("28P01", "")
		if i == ofName.burst-2 {
			v = h.knocks("ann")
			v.enters(password)
			v.leaves()
		}
	}
	h.knocks("ann").refused("28000", "too many wrong passwords")
}
