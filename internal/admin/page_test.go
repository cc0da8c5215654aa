package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgflurry/internal/report"
)

// get requests a page of a node, and returns status and body.
func get(t *testing.T, node Node, path string) (int, string) {
	t.Helper()
	answer := httptest.NewRecorder()
	New(Settings{Node: node}).handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer.Code, answer.Body.String()
}

// has fails the test if a page lacks one of the texts.
func has(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q", text)
		}
	}
}

func TestInvariant5ThePageNeedsNothingFromElsewhereAndNoScript(t *testing.T) {
	node := &scripted{state: healthy()}
	for _, path := range []string{"/", "/worker/137", "/workers?from=0", "/decode?id=5"} {
		answer := httptest.NewRecorder()
		New(Settings{Node: node}).handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		page := answer.Body.String()
		if policy := answer.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'self';") {
			t.Errorf("%s has the policy %q", path, policy)
		}
		for _, outside := range []string{"http:", "https:", "//", "style=", "<style", "javascript:", "onclick"} {
			if at := strings.Index(page, outside); at >= 0 {
				t.Errorf("%s holds %q: %.80s", path, outside, page[at:])
			}
		}
		for _, link := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if link[1] == "#main" {
				continue
			}
			needsMore := link[1] == "/decode" || link[1] == "/worker" // the form adds the rest
			if status, _ := get(t, node, link[1]); status != http.StatusOK && !needsMore {
				t.Fatalf("%s leads to %s, which answers %d", path, link[1], status)
			}
		}
	}
}

func TestWhatComesFromOutsideIsText(t *testing.T) {
	const evil = `<script>alert(1)</script>"'>`
	s := healthy()
	s.Name, s.Address, s.Upstream, s.Version = evil, evil, evil, evil
	s.Namespace.ID, s.Namespace.Layout = evil, evil
	s.Lease.Reserve, s.Lease.Reason, s.Lease.Cause, s.Lease.Hint = time.Second, "unanswered", evil, evil
	s.Lease.Renewed = now.Add(-59 * time.Second)
	s.Workers.Problem = evil
	for i := range s.Workers.Rows {
		w := &s.Workers.Rows[i]
		w.Node, w.Address, w.Version = evil, evil, evil
	}
	for i := range s.Databases {
		d := &s.Databases[i]
		d.Name, d.IDs, d.IDsWhy, d.IDsHint, d.Segments, d.SegmentsWhy = evil, "none", evil, evil, evil, evil
	}
	for i := range s.Segments {
		s.Segments[i].Tag, s.Segments[i].Database = evil, evil
	}
	s.Certificates = []report.Certificate{{File: evil, Until: now}}
	s.Sessions.Open = map[string]int{evil: 1}
	s.Answers.Declined = map[string]int64{evil: 1}
	node := &scripted{
		state: s, decoded: report.Decoded{ID: 5, Time: now, Worker: 137},
		history: map[int][]report.Tenure{
			137: {{Term: 1, Node: evil, Address: evil, Version: evil, Acquired: now, Until: now.Add(1)}},
		},
	}
	for _, path := range []string{
		"/", "/fragment", "/worker/137", "/worker?number=%3Cscript%3Ealert(1)%3C/script%3E", "/decode?id=5",
		"/workers?from=%3Cscript%3Ealert(1)%3C/script%3E", "/decode?id=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
	} {
		_, page := get(t, node, path)
		if strings.Contains(page, "<script>") {
			t.Errorf("%s runs what came from outside", path)
		}
		has(t, page, "&lt;script&gt;alert(1)&lt;/script&gt;")
	}
}

func TestTheMapHasACellForEachWorkerAndSaysEachState(t *testing.T) {
	s := healthy()
	s.Clock.Offset = -28 * time.Millisecond
	_, page := get(t, &scripted{state: s}, "/")
	has(t, page, "28 ms behind the database’s; no ID depends on it", "IDs: not measured yet")
	if n := strings.Count(page, `href="/worker/`); n < 1024 {
		t.Errorf("the map links to %d workers", n)
	}
	has(t, page,
		`<a href="/worker/137" class="cell mine" aria-label="137 mine, shop-proxy-2">M</a>`,
		`class="cell function" aria-label="0 function, shop" tabindex="-1">F</a>`,
		`class="cell function" aria-label="15 function" tabindex="-1">F</a>`,
		`<a href="/worker/404" class="cell retired" aria-label="404 retired, shop-proxy-4" tabindex="-1">X</a>`,
		`class="cell free" aria-label="1023 free" tabindex="-1">·</a>`,
		`retired <b>2</b>`, `mine <b>1</b>`, `function <b>16</b>`)
}

func TestALargeMapHasACellForEachBlockFilledAsFarAsItsWorkersAreInUse(t *testing.T) {
	s := healthy()
	s.Namespace.Workers = 65_536
	s.Workers.Rows = []report.Worker{
		{Number: 640, State: "retired"},
		{Number: 641, State: "resting"},
		{Number: 642, State: "held", Node: "n"},
		{Number: 643, State: "held", Node: "n"},
		{Number: 65_535, State: "held", Node: "last"},
	}
	for n := 704; n < 768; n++ {
		s.Workers.Rows = append(s.Workers.Rows, report.Worker{Number: n, State: "held"})
	}
	node := &scripted{state: s}
	_, page := get(t, node, "/")
	if n := strings.Count(page, `href="/workers?from=`); n != 1024 {
		t.Errorf("the map has %d cells", n)
	}
	has(t, page, "64 in each cell",
		`<a href="/workers?from=640" class="cell held level1" `+
			`aria-label="640 to 703: 2 held, 1 resting, 1 retired, 60 free" tabindex="-1"></a>`,
		`class="cell held level8" aria-label="704 to 767: 64 held" tabindex="-1"></a>`,
		`class="cell free" aria-label="768 to 831: 64 free" tabindex="-1">·</a>`,
		`aria-label="128 to 191: 1 mine, 63 free"`)
	status, block := get(t, node, "/workers?from=65500")
	if n := strings.Count(block, `href="/worker/`); status != 200 || n != 64 {
		t.Errorf("the block answers %d with %d workers", status, n)
	}
	has(t, block, "Workers 65472 to 65535", `aria-label="65535 held, last"`)
}

func TestTheListOfWorkersBeginsWithMineAndHasAnEnd(t *testing.T) {
	s := healthy()
	s.Workers.Rows = nil
	for n := 16; n < 1024; n++ {
		s.Workers.Rows = append(s.Workers.Rows, report.Worker{
			Number: n, State: []string{"resting", "held", "free"}[n%3],
		})
	}
	m := newWorkerMap(s, 0, 1024)
	var states []string
	for _, w := range m.Listed {
		states = append(states, w.State)
	}
	if len(states) != mostListed || m.Listed[0].Number != 137 || states[0] != "mine" || states[1] != "held" ||
		states[199] != "held" || m.Unnamed != "473" {
		t.Errorf("%d are listed, %s more; the first are %+v", len(states), m.Unnamed, m.Listed[:2])
	}
}

func TestAClockThatDiffersByNothingIsShownAsInStep(t *testing.T) {
	s := healthy()
	s.Clock.Ahead, s.Clock.Offset = 20*time.Microsecond, -30*time.Microsecond
	_, page := get(t, &scripted{state: s}, "/")
	has(t, page, "IDs are in step with the database’s clock",
		"<dt>Clock of IDs</dt><dd>in step with the database’s</dd>",
		"<dt>This machine’s clock</dt><dd>in step with the database’s; no ID depends on it</dd>")
	s.Clock.Ahead, s.Clock.Offset = 90*time.Microsecond, -25*time.Millisecond
	_, page = get(t, &scripted{state: s}, "/")
	has(t, page, "IDs are 0.1 ms ahead of the database’s clock", "<dd>25 ms behind the database’s; no ID")
}

func TestSmallAndUnknownNamespacesHaveAMap(t *testing.T) {
	s := healthy()
	s.Namespace.Workers, s.Namespace.Functions, s.Lease.Worker = 64, report.Spans{{First: 0, Last: 3}}, 9
	_, page := get(t, &scripted{state: s}, "/")
	has(t, page, `aria-label="9 mine"`,
		`<span>1 mine</span><span>4 held</span><span>1 resting</span><span>54 free</span></small>`)
	_, page = get(t, &scripted{state: report.State{At: now}}, "/")
	has(t, page, "the namespace was not read", "Workers <small id=\"part-tally\">not known yet</small>")
	if status, page := get(t, &scripted{state: report.State{At: now}}, "/worker/1"); status != http.StatusNotFound {
		t.Errorf("a worker of an unknown namespace: %d %s", status, page)
	}
}

func TestAForeignWorkerIsNeitherFreeNorListed(t *testing.T) {
	s := healthy()
	s.Namespace.Workers, s.Namespace.Functions, s.Lease.Worker = 64, report.Spans{{First: 2, Last: 5}}, 9
	s.Workers.Rows = []report.Worker{{Number: 0, State: "foreign"}, {Number: 1, State: "foreign"}}
	_, page := get(t, &scripted{state: s}, "/")
	has(t, page, `aria-label="1 foreign"`, `aria-label="2 function"`, "a generator of another kind gives IDs with it")
	if strings.Contains(page, `aria-label="6 function"`) || strings.Contains(page, ">foreign</td>") {
		t.Errorf("the page has\n%s", page)
	}
	_, page = get(t, &scripted{state: s}, "/worker/1")
	has(t, page, "a generator of another kind gives IDs with it")
}

func TestAWorkerShowsItsHolderItsMarkAndItsHistory(t *testing.T) {
	node := &scripted{state: healthy(), history: map[int][]report.Tenure{
		404: {{Term: 2, Node: "old-node", Acquired: now.Add(-time.Hour), Until: now.Add(-30 * time.Minute)}},
	}}
	_, page := get(t, node, "/worker/404")
	has(t, page, "<title>Worker 404", "shop-proxy-4", "passed 30 days ago", "old-node", "2026-03-14T08:56:53Z",
		"never granted again")
	_, page = get(t, node, "/worker/137")
	has(t, page, "52 s ahead of the database", "Nobody has had it")
	node.failed = errors.New("connection refused")
	_, page = get(t, node, "/worker?number=137")
	has(t, page, "The history is not known: connection refused")
	for _, number := range []string{"1024", "-1", "x", "99999999999999999999"} {
		status, page := get(t, node, "/worker/"+number)
		if status != http.StatusNotFound {
			t.Errorf("worker %s answers %d", number, status)
		}
		has(t, page, "There is no worker “"+number+"”: expected a number from 0 to 1023.")
	}
}

func TestAnIDIsTakenApartWithWhoHeldItsWorkerThen(t *testing.T) {
	five := 5
	node := &scripted{
		state: healthy(),
		decoded: report.Decoded{
			ID: 330678927360028672, Time: now.Add(-2 * time.Hour), Datacenter: &five, Worker: 137, Sequence: 1203,
		},
		history: map[int][]report.Tenure{137: {
			{Term: 3, Node: "late", Acquired: now.Add(-time.Hour), Until: now.Add(time.Minute)},
			{Term: 2, Node: "right", Acquired: now.Add(-3 * time.Hour), Until: now.Add(-90 * time.Minute)},
			{Term: 1, Node: "early", Acquired: now.Add(-9 * time.Hour), Until: now.Add(-5 * time.Hour)},
		}},
	}
	ask := func() string {
		_, page := get(t, node, "/decode?id=+330678927360028672")
		return page
	}
	has(t, ask(), "2026-03-14T07:26:53Z", "2 h ago", "<dd>5</dd>", "1203", "<b>right</b>", "term 2")

	node.decoded.Time = now.Add(time.Millisecond)
	has(t, ask(), "just now", "<b>late</b>")
	node.decoded.Time = now.Add(-4 * time.Hour) // between two tenures
	has(t, ask(), "not known: no tenure in the table covers that time")
	node.decoded.Time = now.Add(-90 * time.Minute) // the mark is exclusive
	has(t, ask(), "not known: no tenure")
	node.decoded.Time = now.Add(-time.Hour - time.Millisecond) // the tick in which it was acquired
	has(t, ask(), "<b>late</b>")
	node.decoded.Function = true
	has(t, ask(), "the function of a database")
	node.decoded.Function, node.failed = false, errors.New("connection refused")
	has(t, ask(), "not known: connection refused")
	node.decoded.Time = time.Time{} // below the first ID
	has(t, ask(), "none: below the first ID, so a key of a sequence", "no one: a sequence gave it")
}

func TestWhatIsNoIDIsAnsweredInASentence(t *testing.T) {
	for typed, want := range map[string]string{
		"":        "No ID was given: expected a number, such as 330678927360028672, or base32, such as 095PEQE000W00.",
		"+":       "No ID was given",
		"+12<+":   "&#34;12&lt;&#34; is no ID: its time is after the layout&#39;s end.",
		"%2B1234": "&#34;&#43;1234&#34; is no ID",
	} {
		status, page := get(t, &scripted{state: healthy()}, "/decode?id="+typed)
		if status != http.StatusBadRequest {
			t.Errorf("%q answers %d", typed, status)
		}
		has(t, page, want, `aria-invalid="true"`)
	}
}

func TestAHistoryThatIsSlowIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := &fakeNode{state: healthy(), history: func(ctx context.Context, _ int) ([]report.Tenure, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		pages, answers := newPage(node, report.NewRecent(time.Second, node.State)), make(chan error)
		for range 3 {
			go func() {
				_, err := pages.history(t.Context(), 1)
				answers <- err
			}()
		}
		said := map[string]int{}
		for range 3 {
			said[(<-answers).Error()]++
		}
		late := said["the lease database has not answered within 3 s"]
		if late == 0 || late+said[errBusy.Error()] != 3 {
			t.Errorf("three who asked heard %v", said)
		}
	})
}

func TestTwoWhoAskForAHistoryAtTheSameTimeAreBothAnsweredOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asking atomic.Int32
		node := &fakeNode{state: healthy(), history: func(context.Context, int) ([]report.Tenure, error) {
			defer asking.Add(-1)
			if asking.Add(1) > 1 {
				return nil, errors.New("one question is put at a time")
			}
			time.Sleep(time.Second)
			return nil, nil
		}}
		pages, answers := newPage(node, report.NewRecent(time.Second, node.State)), make(chan error)
		for range 2 {
			go func() {
				_, err := pages.history(t.Context(), 1)
				answers <- err
			}()
		}
		for range 2 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestSamplesAreRatesOfTheLastTenMinutesAndNoMore(t *testing.T) {
	var s samples
	if got := s.series(); len(got.ids) != 0 {
		t.Errorf("nothing was sampled: %v", got)
	}
	for i := range 1000 {
		state := report.State{
			At:       now.Add(time.Duration(i) * sampleEvery),
			Sessions: report.Sessions{Open: map[string]int{"idle": i}},
		}
		state.Answers = report.Answers{
			IDs: int64(100 * i), ByKind: map[string]int64{"snowflake": int64(40 * i), "segment": int64(10 * i)},
			Declined: map[string]int64{"grant_ended": int64(2 * i)},
		}
		state.IDDatabase = report.IDDatabase{
			Open: map[string]int{"idle": 5000}, Refused: map[string]int64{"no_ids": int64(6 * i), "other": int64(i)},
		}
		s.add(state)
	}
	got := s.series()
	if len(got.ids) != 300 || got.ids[0] != 50 || got.answers[299] != 25 || got.declined[7] != 4 ||
		got.sessions[0] != 5700 || got.sessions[299] != 5999 {
		t.Errorf("%d points: %v %v %v %v", len(got.ids), got.ids[0], got.answers[299], got.declined[7], got.sessions[0])
	}
	c := newChart("IDs", "/s", got.ids, scale(got.ids))
	if c.Now != "50" || c.Description != "IDs over the last 10 min: now 50, least 50, most 50" || c.Span != "10 min" {
		t.Errorf("the chart says %+v", c)
	}
}

func TestAServerTakesASampleEveryTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		node := &fakeNode{state: healthy()}
		pages := newPage(node, report.NewRecent(time.Second, node.State))
		go pages.watch(ctx)
		time.Sleep(9 * time.Second) // on the bubble's clock
		synctest.Wait()
		if n := len(pages.samples.series().ids); n != 4 {
			t.Errorf("after 9 s there are %d points", n)
		}
		cancel()
	})
}

func TestAChartBeginsAtZeroAndOneASecondIsNotMuch(t *testing.T) {
	for most, top := range map[float64]float64{
		0: 10, 1: 10, 10: 10, 10.5: 20, 99: 100, 100: 100, 101: 200, 2130: 5000, 5001: 10_000,
	} {
		if got := scale([]float64{0, most}, nil); got != top {
			t.Errorf("a line up to %v has a scale up to %v; expected %v", most, got, top)
		}
	}
	if said := rate(0.99) + " " + rate(1.46); said != "1 1.5" {
		t.Errorf("rates are shown as %s; expected 1 1.5", said)
	}
	all := charts(series{ids: []float64{3, 1}, answers: []float64{1900, 1800}, declined: []float64{0, 1}})
	if low := all[0].Y; low != "47.2" { // a tenth of the height above the base at 52
		t.Errorf("one ID a second is drawn at %s", low)
	}
	if all[2].Top != all[1].Top || all[2].Top != "2,000" || all[2].Y != "52.0" {
		t.Errorf("beside 1,800 answers, one that was declined is drawn at %s of 0 to %s", all[2].Y, all[2].Top)
	}
}

func TestThePageBeginsWithWhoGetsIDsAndEndsWithWorkersFolded(t *testing.T) {
	s := New(Settings{Node: &scripted{state: healthy()}})
	for seconds := 4; seconds >= 0; seconds -= 2 {
		s.page.samples.add(earlier(healthy(), seconds))
	}
	page := string(s.page.render("whole", s.page.newView()).body)
	last := 0
	for _, part := range []string{
		"2 of 3 databases get IDs from memory, 1,868 a second; only with the schema in reports</span></h1>",
		`id="part-warnings"`, `id="part-rates"`, `id="part-databases"`, "<details id=\"workers\">\n<summary>Workers " +
			`<small id="part-tally"><span>1 mine</span><span>80 held</span>`, `id="part-map"`,
	} {
		at := strings.Index(page, part)
		if at < last {
			t.Errorf("%s is not on the page, or is too high up", part)
		}
		last = max(last, at)
	}
}

func TestTheScriptStaysSmall(t *testing.T) {
	script, err := pageAssets.ReadFile("page/page.js")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(script), "\n"); n >= 170 {
		t.Errorf("page.js has %d lines; fewer than 170 are allowed", n)
	}
	for _, word := range []string{"import ", "eval(", "new Function", "http"} {
		if strings.Contains(string(script), word) {
			t.Errorf("page.js holds %q", word)
		}
	}
}

func TestManySegmentsAreListedInPart(t *testing.T) {
	s := healthy()
	s.Segments = nil
	for i := range 140 {
		s.Segments = append(s.Segments, report.Segment{Database: "shop", Tag: fmt.Sprintf("tag-%03d", i)})
	}
	_, page := get(t, &scripted{state: s}, "/")
	has(t, page, "tag-099", "40 more are not listed")
	if strings.Contains(page, "tag-100") {
		t.Error("the page lists more tags than 100")
	}
}

func TestSegmentsWithoutShortNamesLookAsWellAsWithThemAndAShadowedNameDoesNot(t *testing.T) {
	s := healthy()
	s.Databases = []report.Database{{Name: "shop", IDs: "all", Segments: "qualified", Judged: now}}
	_, page := get(t, &scripted{state: s}, "/")
	has(t, page, `<span class="level yes">✓ with schema pgflurry</span>`)
	if strings.Contains(page, `class="level part"`) {
		t.Error("that public has no next_segment() is shown as if something was wrong")
	}
	s.Databases[0].SegmentsWhy = "another function of the name, legacy.next_segment(text)"
	_, page = get(t, &scripted{state: s}, "/")
	has(t, page, `<span class="level part">◐ only with the schema</span><p class="why">another function`)
}

func TestTheMapOfARegionHasItsWorkersAlone(t *testing.T) {
	s := healthy()
	three := 3
	s.Namespace.Region, s.Namespace.Lowest, s.Namespace.Workers = &three, 96, 32
	s.Namespace.Functions = report.Spans{{First: 96, Last: 103}}
	s.Namespace.Layout, s.Lease.Worker = "41/5/5/12", 111
	s.Workers.Rows = []report.Worker{
		{Number: 111, State: "held"},
		{Number: 127, State: "held", Node: "last"},
	}
	node := &scripted{state: s}
	_, page := get(t, node, "/")
	if n := strings.Count(page, `href="/worker/`); n != 32+2 { // the list below has two of them again
		t.Errorf("the page leads to %d workers", n)
	}
	has(t, page, "41/5/5/12, region 3, until", `aria-label="96 function"`, `aria-label="103 function"`,
		`aria-label="104 free"`, `aria-label="111 mine"`, `aria-label="127 held, last"`, `function <b>8</b>`)
	if status, _ := get(t, node, "/worker/127"); status != http.StatusOK {
		t.Errorf("worker 127 is answered with %d", status)
	}
	for _, number := range []string{"95", "128", "1"} {
		status, page := get(t, node, "/worker/"+number)
		if status != http.StatusNotFound {
			t.Errorf("worker %s of another region is answered with %d", number, status)
		}
		has(t, page, "expected a number from 96 to 127")
	}
}
