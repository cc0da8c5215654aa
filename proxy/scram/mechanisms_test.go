package scram

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzAnOfferLosesPlusAndNothingElse(f *testing.F) {
	f.Add([]byte(Plus + "\x00" + Plain + "\x00\x00"))
	f.Add([]byte(Plus))
	f.Add([]byte("A\x00" + Plus + "\x00B\x00\x00rest"))
	f.Fuzz(func(t *testing.T, mechanisms []byte) {
		offer, cut := WithoutPlus(bytes.Clone(mechanisms))
		list, _, whole := bytes.Cut(mechanisms, []byte{0, 0})
		if len(mechanisms) > 0 && mechanisms[0] == 0 {
			list, whole = nil, true
		}
		if !whole {
			return
		}
		var want []string
		had := false
		for name := range strings.SplitSeq(string(list), "\x00") {
			if name == Plus {
				had = true
			} else if name != "" {
				want = append(want, name)
			}
		}
		if got := strings.TrimSuffix(string(offer), "\x00"); cut != had || got != strings.Join(want, "\x00") {
			t.Fatalf("of %q remains %q, cut %v; expected %q, %v", mechanisms, got, cut, want, had)
		}
	})
}
