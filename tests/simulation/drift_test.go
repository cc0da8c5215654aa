package simulation

import (
	"slices"
	"testing"
)

// If model and code drift apart, some history shows it.

// attempts is how many histories may pass until one shows it.
const attempts = 60

func TestAModelThatLacksAGuardOfTheStatementsRefusesWhatTheRealCodeDoes(t *testing.T) {
	needsSpin(t)
	for guard, in := range map[string]string{
		"NO_START_AT_MARK": anyTime, "NO_OWNER": anyTime,
		"NO_QUARANTINE": anyTime, "NO_GRACE": anyTime,
		"NO_CAP": anyTime, "NO_GATE": lossy, "NO_RESTART_QUARANTINE": lossy,
		"NO_STALE_RENEWAL": lossy,
	} {
		t.Run(guard, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(attempts) {
				moments := recorded(t, modelled[in], seed)
				if refused := newScript(modelled[in], moments, nearest(moments)).replay(t, guard); refused != "" {
					t.Logf("history %d:\n%s", seed+1, refused)
					return
				}
			}
			t.Errorf("%d histories do not tell the model from one without this guard", attempts)
		})
	}
}

func TestTheModelRefusesWhatAProcessDoesThatLacksAGuard(t *testing.T) {
	needsSpin(t)
	w := modelled[anyTime]
	for name, forge := range map[string]func([]moment) (forged []moment, watch int64){
		"it compares no ID with the mark":               atTheMark,
		"it counts a mark that was not acknowledged":    unheard,
		"it issues an ID after its generator's sealing": sealed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(attempts) {
				moments := recorded(t, w, seed)
				forged, watch := forge(moments)
				if forged == nil {
					continue
				}
				if refused := newScript(w, moments, watch).replay(t); refused != "" {
					t.Fatalf("history %d is refused as it was:\n%s", seed+1, refused)
				}
				refused := newScript(w, forged, watch).replay(t)
				if refused == "" {
					t.Fatalf("history %d: the model admits it", seed+1)
				}
				t.Logf("history %d:\n%s", seed+1, refused)
				return
			}
			t.Errorf("none of %d histories can be forged so", attempts)
		})
	}
}

// atTheMark moves an ID to the mark.
func atTheMark(moments []moment) ([]moment, int64) {
	i := slices.IndexFunc(moments, func(m moment) bool { return m.what == draws })
	if i < 0 {
		return nil, 0
	}
	forged := slices.Clone(moments)
	forged[i].tick = forged[i].row.Mark
	return forged, forged[i].tick
}

// unheard loses the answer to a renewal, after which the process goes on with its mark.
func unheard(moments []moment) ([]moment, int64) {
	for i, m := range moments {
		if m.what != writes || m.write.renew == nil || !m.write.heard || m.write.clean[3] == nil {
			continue
		}
		goesOn := func(later moment) bool {
			return later.what == writes && later.write.renew != nil && !later.write.late && later.life == m.life &&
				later.write.renew.Acknowledged == m.write.clean[3].(int64) &&
				later.write.renew.Acknowledged > m.write.renew.Acknowledged
		}
		if slices.ContainsFunc(moments[i:], goesOn) {
			forged, lost := slices.Clone(moments), *m.write
			lost.heard = false
			forged[i].write = &lost
			return forged, nearest(moments)
		}
	}
	return nil, 0
}

// sealed repeats the last ID of a process after its generator was sealed.
func sealed(moments []moment) ([]moment, int64) {
	for i, m := range moments {
		if m.what != seals {
			continue
		}
		for _, earlier := range slices.Backward(moments[:i]) {
			if earlier.what == draws && earlier.life == m.life {
				again := m
				again.what, again.tick = draws, earlier.tick
				return slices.Insert(slices.Clone(moments), i+1, again), earlier.tick
			}
		}
	}
	return nil, 0
}
