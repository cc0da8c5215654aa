package proxy

import (
	"bytes"
	"runtime"
	"testing"

	"pgflurry/proxy/pgtls"
)

// change gives the proxy of a rig new settings.
func (r *rig) change(s Rules) {
	r.t.Helper()
	if err := r.proxy.Change(s); err != nil {
		r.t.Fatal(err)
	}
}

func TestALowerLimitEndsNobodyWhoHasLoggedInAndAHigherOneLetsFurtherIn(t *testing.T) {
	r := newRig(t, &counter{})
	second := r.dial()
	defer second.Close()
	r.starts(second)
	r.change(Rules{MaxSessions: 4})
	r.change(Rules{MaxSessions: 1, MaxLogins: 1, MaxLoginsPerAddress: 1})
	r.answersAgain("1")
	third := r.dial()
	defer third.Close()
	r.write(third, [][]byte{startup("user", "u", "database", "d")})
	r.isTurnedAway(third, failTooMany)
	if st := r.proxy.Stats(); st.Now != 2 || st.Limit != 1 || !st.Full {
		t.Errorf("%d sessions under a limit of %d, full %v; expected 2, 1, true", st.Now, st.Limit, st.Full)
	}
	r.change(Rules{MaxSessions: 3})
	fourth := r.dial()
	defer fourth.Close()
	r.starts(fourth)
	r.answersAgain("2")
	if st := r.proxy.Stats(); st.Now != 3 || st.Limit != 3 || !st.Full {
		t.Errorf("%d sessions under a limit of %d, full %v; expected 3, 3, true", st.Now, st.Limit, st.Full)
	}
}

func TestALoginIsHeldToTheRulesThatHeldWhenItsConnectionWasAccepted(t *testing.T) {
	offer, _ := offers(t)
	r := newRigBeforeStartup(t, &counter{}, offer)
	early := r.starts(r.dial()) // its connection, at least, is accepted
	defer early.Close()
	var strict Settings
	offer(&strict)
	strict.RequireTLS, strict.AskPassword = true, true
	accepted := r.dial()
	defer accepted.Close()
	r.write(accepted, [][]byte{startup("user", "u", "database", "d")[:5]})
	for r.proxy.Stats().Open["login"] < 2 { // the rig's login, and this one
		runtime.Gosched()
	}
	r.change(strict.Rules)
	r.write(accepted, [][]byte{startup("user", "u", "database", "d")[5:]})
	up := <-r.arrivals
	defer up.Close()
	ask := message('R', []byte{0, 0, 0, 5, 1, 2, 3, 4}) // of the method md5
	r.expect(up, "upstream", [][]byte{startup("user", "u", "database", "d")})
	r.write(up, [][]byte{ask})
	r.expect(accepted, "client", [][]byte{ask}) // the proxy itself would ask for clear text
	r.write(accepted, [][]byte{message('p', z("md5proof"))})
	r.expect(up, "upstream", [][]byte{message('p', z("md5proof"))})
	late := r.dial()
	defer late.Close()
	r.write(late, [][]byte{startup("user", "u", "database", "d")})
	if got := r.rest(late); !bytes.Equal(got, fatalMessage(failTLSRequired)) {
		t.Errorf("who comes afterwards without TLS gets %q; expected %q", got, fatalMessage(failTLSRequired))
	}
}

func TestSettingsThatContradictThemselvesChangeNothing(t *testing.T) {
	r := newRig(t, &counter{})
	for name, s := range map[string]Rules{
		"a password without TLS":          {MaxSessions: 1, AskPassword: true},
		"TLS required without any":        {MaxSessions: 1, RequireTLS: true},
		"an upstream that nobody vouches": {MaxSessions: 1, UpstreamTLS: pgtls.Upstream{Mode: pgtls.VerifyFull}},
	} {
		if err := r.proxy.Change(s); err == nil {
			t.Errorf("%s is taken", name)
		}
		if limit := r.proxy.Stats().Limit; limit != 0 {
			t.Errorf("%s is refused, and has set the limit of sessions to %d", name, limit)
		}
	}
	r.answersAgain("1")
}
