package admin

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
)

func TestADatabaseIsShownAsAnsweredFromMemoryOnlyWhileThereAreIDs(t *testing.T) {
	const memory, without = `<span class="level yes">✓ from memory</span>`, `✕ from PostgreSQL: no IDs here</span>`
	s := healthy()
	s.Databases = []report.Database{{Name: "shop", IDs: "all", Segments: "none", Judged: now.Add(-3 * time.Second)}}
	for reserve, want := range map[time.Duration]string{time.Second: memory, 0: without} {
		s.Lease.Reserve = reserve
		_, page := get(t, &scripted{state: s}, "/")
		for _, text := range []string{memory, without} {
			if strings.Contains(page, text) != (text == want) {
				t.Errorf("with a reserve of %v the page does not say %q alone", reserve, want)
			}
		}
	}
}

func TestADatabaseWhosePostgreSQLIsAwayIsOnThePageAndInTheProbe(t *testing.T) {
	s := healthy()
	away(&s)
	s.Lease = report.Lease{Reason: "unanswered", Cause: "connection refused"}
	node := &scripted{state: s}
	_, page := get(t, node, "/")
	has(t, page, "calls go to PostgreSQL, which does not answer",
		"PostgreSQL does not answer: new sessions are refused.",
		`✕ from PostgreSQL: no IDs here</span><p class="why">PostgreSQL does not answer</p>`,
		"psql -h &#39;db-1.shop.internal&#39; -p 5432")
	status, why := get(t, node, "/readyz/ids")
	const want = "no IDs from memory, calls go to PostgreSQL, which does not answer: connection refused"
	if status != http.StatusServiceUnavailable || !strings.Contains(why, want) {
		t.Errorf("the probe answers %d %s", status, why)
	}
}

func TestATableThatWasNotReadSaysOfNoWorkerThatItIsFree(t *testing.T) {
	s := healthy()
	s.Workers = report.Workers{}
	node := &scripted{state: s}
	_, page := get(t, node, "/")
	has(t, page, "unknown <b>1,007</b>", "mine <b>1</b>", "function <b>16</b>", `aria-label="500 unknown"`)
	if strings.Contains(page, "free <b>") {
		t.Error("workers are shown as free")
	}
	_, page = get(t, node, "/worker/500")
	has(t, page, "unknown: the worker table was not read yet", "<dt>Holder</dt><dd>not known</dd>")
	s.Workers = workers(1024)
	s.Workers.Problem = "connection refused"
	_, page = get(t, &scripted{state: s}, "/")
	has(t, page, "The table could not be read: connection refused</p>", "What is shown was read 5 s ago.")
}
