package fault

import "testing"

func TestALogLineOfAnErrorHasItsDetailButNotItsHint(t *testing.T) {
	e := New("08P01", "malformed message", "Check the driver.")
	if e.Error() != "malformed message" {
		t.Errorf("without a detail: %q", e)
	}
	e.Detail = "It is empty."
	if e.Error() != "malformed message: It is empty." {
		t.Errorf("with a detail: %q", e)
	}
}
