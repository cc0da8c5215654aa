package leasing

import (
	"fmt"
	"testing"
	"time"

	"pgflurry/tests/support/network"
	"pgflurry/tests/support/server"
)

// With a window of 2 s an attempt ends after 500 ms. Each login and each answer takes longer here. The process once
// gave up the connection after the first late answer, and then each login.
func TestAnswersThatAreAlwaysLateKeepTheLease(t *testing.T) {
	t.Parallel()
	a := newIDs(t)
	link, late := network.To(t, shortWindows(t))
	g := open(t, late, "late")
	a.draw(g)
	before := g.Stats()
	link.Delay(700 * time.Millisecond)
	server.Until(t, func() error {
		a.draw(g)
		if renewed := g.Stats().Renewals["ok"] - before.Renewals["ok"]; renewed < 6 {
			return fmt.Errorf("%d renewals", renewed)
		}
		return nil
	})
	if after := g.Stats(); after.Acquisitions["ok"] != before.Acquisitions["ok"] || after.Renewals["unknown"] == 0 {
		t.Errorf("acquisitions %v and renewals %v, after %v", after.Acquisitions, after.Renewals, before.Acquisitions)
	}
}
