package idserver

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"pgflurry/proxy/internal/admission"
)

func prefix(t testing.TB, text string) netip.Prefix {
	t.Helper()
	return admission.Origin(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text)))
}

func TestWrongPasswordsOfANameMayComeInABurstAndThenSlowly(t *testing.T) {
	a, here := newAttempts(noon), prefix(t, "10.1.2.3:5")
	now := noon
	for i := range ofName.burst {
		if wait, _ := a.Wait(here, "ann", now); wait != 0 {
			t.Fatalf("attempt %d has to wait %s", i, wait)
		}
		a.Wrong(here, "ann", now)
	}
	for range 3 {
		wait, all := a.Wait(here, "ann", now)
		if wait != ofName.interval || all {
			t.Fatalf("wait %s, for all names %v; expected %s", wait, all, ofName.interval)
		}
		now = now.Add(wait)
		if wait, _ = a.Wait(here, "ann", now); wait != 0 {
			t.Fatalf("wait %s after the wait", wait)
		}
		a.Wrong(here, "ann", now)
	}
	if wait, _ := a.Wait(here, "bob", now); wait != 0 {
		t.Errorf("another name has to wait %s", wait)
	}
	if wait, _ := a.Wait(prefix(t, "10.1.2.4:5"), "ann", now); wait != 0 {
		t.Errorf("another address has to wait %s", wait)
	}
	now = now.Add(time.Duration(ofName.burst) * ofName.interval)
	for range ofName.burst {
		if wait, _ := a.Wait(here, "ann", now); wait != 0 {
			t.Fatal("there is no burst after a rest")
		}
		a.Wrong(here, "ann", now)
	}
}

func TestWrongPasswordsOfAnAddressAreLimitedWhateverTheNames(t *testing.T) {
	a := newAttempts(noon)
	for i := range ofAddress.burst {
		a.Wrong(prefix(t, fmt.Sprintf("[2001:db8::%x]:5", i+1)), fmt.Sprint(i), noon)
	}
	wait, all := a.Wait(prefix(t, "[2001:db8::ffff:1]:9"), "new", noon)
	if wait != ofAddress.interval || !all {
		t.Errorf("a new name from the same network: wait %s, for all names %v", wait, all)
	}
	for _, other := range []string{"[2001:db8:0:1::1]:5", "10.1.2.3:5"} {
		if wait, _ := a.Wait(prefix(t, other), "new", noon); wait != 0 {
			t.Errorf("%s has to wait %s", other, wait)
		}
	}
	if wait, _ := a.Wait(netip.Prefix{}, "new", noon); wait != 0 {
		t.Errorf("Unix sockets have to wait %s", wait)
	}
}

func TestWhatIsKeptOfWrongPasswordsIsBounded(t *testing.T) {
	a := newAttempts(noon)
	a.most = 100
	here := prefix(t, "10.1.2.3:5")
	for range 3 * ofName.burst {
		a.Wrong(here, "ann", noon)
	}
	if wait, _ := a.Wait(here, "ann", noon); wait > 2*time.Duration(ofName.burst)*ofName.interval {
		t.Errorf("a storm costs a wait of %s", wait)
	}
	for i := range 40 { // fewer than there is room for
		a.Wrong(prefix(t, fmt.Sprintf("10.2.0.%d:5", i)), strings.Repeat("long", 1000), noon)
	}
	if wait, _ := a.Wait(here, "ann", noon); wait == 0 {
		t.Error("what is new has driven out what is not old")
	}
	for i := range 10_000 {
		a.Wrong(prefix(t, fmt.Sprintf("10.3.%d.%d:5", i/256, i%256)), "ann", noon)
		if n := len(a.debts); n > a.most || n != len(a.byTime) {
			t.Fatalf("%d are kept, %d in order; expected at most %d", n, len(a.byTime), a.most)
		}
	}
	if wait, _ := a.Wait(here, "ann", noon); wait == 0 {
		t.Error("many small debts have driven out a large one")
	}
	if wait, _ := a.Wait(prefix(t, "10.9.9.9:5"), "new", noon); wait != 0 {
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
				if wait, _ := a.Wait(from, name, noon); wait == 0 {
					a.Wrong(from, name, noon)
					tested++
				}
			}
		}
	}
	if most := addresses * ofAddress.burst; tested > most || tested == 0 {
		t.Errorf("%d passwords were tested at once from %d addresses; expected at most %d", tested, addresses, most)
	}
}
