package fault

import (
	"strings"
	"testing"
)

func TestEachReasonHasAllItsTexts(t *testing.T) {
	for _, reason := range Reasons() {
		r := Of(reason)
		if r.Log == "" || r.Client == "" || r.Page == "" {
			t.Errorf("%s lacks a text: %+v", reason, r)
		}
		for _, text := range []string{r.Client, r.Page} {
			if strings.Count(text, "…") > 1 {
				t.Errorf("%s has two places for its time: %q", reason, text)
			}
		}
		if r.Do != "" && len(r.Commands) == 0 {
			t.Errorf("%s says what to do on the page, without a command", reason)
		}
	}
}

func TestATimeThatIsNotKnownLeavesNoGap(t *testing.T) {
	for when, want := range map[string]string{
		"": "the gate is closed", " until noon": "the gate is closed until noon",
	} {
		if got := Until(Of(Gate).Page, when); got != want {
			t.Errorf("%q; expected %q", got, want)
		}
	}
}
