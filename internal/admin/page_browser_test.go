//go:build full

package admin

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"pgflurry/internal/report"
	"pgflurry/tests/support/browser"
	"pgflurry/tests/support/volume"
)

// shown serves the page of a node that has run for ten minutes, and returns its URL.
func shown(t *testing.T, node *scripted) string {
	t.Helper()
	s := New(Settings{Node: node})
	state := node.State()
	for seconds := 602; seconds >= 0; seconds -= 2 {
		s.page.samples.add(earlier(state, seconds))
	}
	node.become(earlier(state, 0))
	server := httptest.NewServer(s.handler) // Serve would take more samples
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// changed is a healthy state with one change.
func changed(change func(*report.State)) report.State {
	s := healthy()
	change(&s)
	return s
}

// states are the states in the pictures of the page.
func states() map[string]report.State {
	return map[string]report.State{
		"healthy": healthy(),
		"ids":     changed(func(s *report.State) { s.IDDatabase = idDatabase() }),
		"warnings": changed(func(s *report.State) {
			for _, kind := range []string{
				"reserve", "clock_slowed", "function_ahead", "gate", "certificate", "database",
			} {
				faults()[kind](s)
			}
		}),
		"lost": changed(func(s *report.State) {
			s.Lease.Held, s.Lease.Reserve, s.Lease.Reason = false, 31*time.Second, "lost"
		}),
		"large": changed(func(s *report.State) { s.Namespace.Workers, s.Workers = 65_536, workers(65_536) }),
		"gate": changed(func(s *report.State) {
			s.Lease = report.Lease{Reason: "gate", Opens: now.Add(80 * time.Second), Window: time.Minute}
		}),
		"small": changed(func(s *report.State) {
			s.Namespace.Workers, s.Lease.Worker, s.Workers = 64, 20, workers(64)
		}),
		"draining": changed(func(s *report.State) { s.Draining = true }),
		"down": changed(func(s *report.State) {
			away(s)
			s.Lease.Reserve, s.Lease.Reason, s.Lease.Renewed = 0, "unanswered", now.Add(-7*time.Minute)
			s.Lease.Cause = "cannot connect to db-1.shop.internal:5432/shop as \"pgflurry\": connection refused"
			s.Workers.Read, s.Workers.Problem = now.Add(-7*time.Minute), "connection refused"
			s.IDDatabase = idDatabase()
			s.IDDatabase.Refused["no_ids"] = 40_311
		}),
		"unread": changed(func(s *report.State) { s.Workers = report.Workers{} }),
		"alone": changed(func(s *report.State) {
			s.Namespace.Workers, s.Namespace.Functions, s.Lease.Worker, s.Workers.Rows = 1, nil, 0, nil
		}),
		"full": changed(func(s *report.State) {
			s.Namespace.Workers, s.Workers = 65_536, workers(65_536)
			for n := 30_000; n < 50_000; n++ {
				state := []string{"held", "held", "held", "held", "resting", "retired"}[n%6*(n/4_000%2)]
				s.Workers.Rows = append(s.Workers.Rows, report.Worker{Number: n, State: state})
			}
		}),
		"unknown": {At: now, Started: now, Name: "shop-proxy-2", Listening: true},
	}
}

func TestEachStateFitsAWideAndANarrowScreenInLightAndInDark(t *testing.T) {
	b := browser.Start(t)
	for name, state := range states() {
		page := shown(t, &scripted{state: state})
		for look, view := range map[string]browser.View{
			"": {}, "-dark": {Dark: true}, "-phone": {Width: 390, Height: 844},
			"-phone-dark": {Width: 390, Height: 844, Dark: true},
		} {
			tab := b.Open(page, view)
			width := max(view.Width, 390)
			if view.Width == 0 {
				width = 1280
			}
			if wide := browser.Evaluate[int](tab, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("%s%s is %d pixels wide on a screen of %d", name, look, wide, width)
			}
			for _, table := range []string{"#part-databases .scroll", "#part-segments .scroll"} {
				if browser.Evaluate[bool](tab, fmt.Sprintf(
					`((e) => e !== null && e.scrollWidth > e.clientWidth)(document.querySelector(%q))`, table)) {
					t.Errorf("%s%s: %s is wider than its place", name, look, table)
				}
			}
			tab.Picture(name + look)
			if least := leastCell(tab); least < 24 {
				t.Errorf("%s%s: a cell of the map is %.1f pixels small; a finger needs 24", name, look, least)
			}
			for _, pair := range tooFaint(tab) {
				t.Errorf("%s%s: %s", name, look, pair)
			}
			if wide := browser.Evaluate[int](tab, "document.documentElement.scrollWidth"); wide > width {
				t.Errorf("%s%s with its workers is %d pixels wide on a screen of %d", name, look, wide, width)
			}
			tab.Close()
			if !volume.Full() {
				break // any of the four
			}
		}
	}
}

// leastCell opens the workers and returns the least width or height of a cell. Without a map it returns 24.
func leastCell(tab *browser.Tab) float64 {
	return browser.Evaluate[float64](tab, `(() => {
		document.querySelector("#workers").open = true;
		const boxes = [...document.querySelectorAll(".map .cell")].map((cell) => cell.getBoundingClientRect());
		return Math.min(24, ...boxes.flatMap((box) => [box.width, box.height]));
	})()`)
}

// tooFaint finds texts with a contrast below 4.5 to 1. The dots of free workers are exempt.
func tooFaint(tab *browser.Tab) []string {
	return browser.Evaluate[[]string](tab, `(() => {
		const channels = (c) => (c.match(/[\d.]+/g) ?? []).map(Number);
		const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
			.map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
			.reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
		const ground = (e) => {
			for (; e; e = e.parentElement) {
				const c = channels(getComputedStyle(e).backgroundColor);
				if (c.length === 3 || c[3] === 1) return c;
			}
			return [255, 255, 255];
		};
		const faint = new Set();
		for (const e of document.querySelectorAll("body *:not(.free):not(script)")) {
			const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
			if (!own || !e.checkVisibility()) continue;
			const a = light(channels(getComputedStyle(e).color)), b = light(ground(e));
			const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
			if (ratio < 4.5) faint.add(e.className + " " + e.textContent.slice(0, 40) + ": " + ratio.toFixed(2));
		}
		return [...faint];
	})()`)
}

func TestThePageKeepsItselfUpToDateAndTellsAListenerOnlyWhatIsNew(t *testing.T) {
	node := &scripted{state: healthy()}
	tab := browser.Start(t).Open(shown(t, node), browser.View{})
	node.become(changed(func(s *report.State) { s.Lease.Reserve = 48 * time.Second }))
	tab.Await(`document.querySelector("#part-state").textContent.includes("IDs would go on for 48 s")`)
	if said := browser.Evaluate[string](tab, `document.querySelector("[role=status]").textContent`); said != "" {
		t.Errorf("a listener hears of each second: %q", said)
	}
	node.become(changed(faults()["reserve"]))
	tab.Await(`document.querySelector("[role=status]").textContent.endsWith("acknowledge. 1 warning")`)
	tab.Await(`document.querySelector("[data-kind=reserve] code").textContent.startsWith("pgflurry migrate status")`)
	speak := `document.querySelectorAll("[aria-live], [role=status], [role=alert]").length`
	if n := browser.Evaluate[int](tab, speak); n != 1 {
		t.Errorf("the page has %d places that speak", n)
	}
}

func TestAPageWhoseProxyHasEndedSaysThatItIsOld(t *testing.T) {
	s := New(Settings{Node: &scripted{state: healthy()}})
	address, end := serve(t, s)
	tab := browser.Start(t).Open("http://"+address+"/", browser.View{})
	tab.Expect("ERR_CONNECTION_REFUSED")
	end()
	tab.Await(`document.body.classList.contains("stale")`)
	tab.Await(`document.querySelector("[role=status]").textContent.includes("does not answer")`)
	tab.Await(`/no answer: as of \d+ s ago/.test(document.querySelector("#age").textContent)`)
	tab.Picture("ended")
}

// unfold opens the workers.
func unfold(tab *browser.Tab) { tab.Run(chromedp.Click("#workers > summary", chromedp.ByQuery)) }

func TestAClickOnAWorkerShowsItInPlace(t *testing.T) {
	node := &scripted{state: healthy(), history: map[int][]report.Tenure{
		137: {{Term: 2, Node: "former", Acquired: now.Add(-time.Hour), Until: now.Add(-30 * time.Minute)}},
	}}
	page := shown(t, node)
	tab := browser.Start(t).Open(page, browser.View{})
	unfold(tab)
	tab.Run(chromedp.Click(`.map a[href="/worker/137"]`, chromedp.ByQuery))
	tab.Await(`document.querySelector("#detail h2")?.textContent.includes("Worker 137")`)
	if text := tab.Text("#detail"); !strings.Contains(text, "former") || !strings.Contains(text, "52 s ahead") {
		t.Errorf("the worker is shown as %q", text)
	}
	if at := browser.Evaluate[string](tab, "location.href"); at != page {
		t.Errorf("the page has gone to %s", at)
	}
	tab.Await(`document.activeElement.id === "detail"`)
	tab.Picture("worker")
	tab.Run(chromedp.Click("#detail .close", chromedp.ByQuery))
	tab.Await(`document.activeElement.getAttribute("href") === "/worker/137" && !document.querySelector("#detail h2")`)
}

func TestTheMapIsOneStopOfTheTabulatorAndArrowKeysMoveInIt(t *testing.T) {
	node := &scripted{state: healthy()}
	tab := browser.Start(t).Open(shown(t, node), browser.View{})
	if n := browser.Evaluate[int](tab, `document.querySelectorAll('.map a:not([tabindex="-1"])').length`); n != 1 {
		t.Errorf("the tabulator stops %d times in the map", n)
	}
	unfold(tab)
	tab.Run(chromedp.Focus(`.map a[href="/worker/137"]`, chromedp.ByQuery))
	at := `document.activeElement.getAttribute("href")`
	for _, step := range []struct{ key, want string }{
		{kb.ArrowRight, "/worker/138"},
		{kb.ArrowDown, "/worker/182"},
		{kb.ArrowUp, "/worker/138"},
		{kb.ArrowLeft, "/worker/137"},
		{kb.End, "/worker/1023"},
		{kb.Home, "/worker/0"},
		{kb.ArrowLeft, "/worker/0"},
		{kb.ArrowDown, "/worker/44"},
	} {
		tab.Run(chromedp.KeyEvent(step.key))
		if got := browser.Evaluate[string](tab, at); got != step.want {
			t.Fatalf("%q leads to %s, want %s", step.key, got, step.want)
		}
	}
	// The new map replaces the old one, and the focus stays.
	node.become(changed(func(s *report.State) { s.Workers.Rows = slices.Clone(s.Workers.Rows[:20]) }))
	tab.Await(`document.querySelectorAll("#part-map .map .held").length < 20`)
	if got := browser.Evaluate[string](tab, at); got != "/worker/44" {
		t.Errorf("after the map was replaced the focus is at %s", got)
	}
	stop := `
		[...document.querySelectorAll('#part-map a:not([tabindex="-1"])')].map((a) => a.getAttribute("href")).join()`
	if got := browser.Evaluate[string](tab, stop); got != "/worker/44" {
		t.Errorf("after the map was replaced the tabulator stops at %s", got)
	}
	tab.Run(chromedp.KeyEvent(kb.Enter))
	tab.Await(`document.querySelector("#detail h2")?.textContent.includes("Worker 44")`)
	tab.Run(chromedp.KeyEvent(kb.Escape))
	tab.Await(at + ` === "/worker/44"`)
}

func TestAMapOf65536WorkersShowsABlockInPlaceAndAWorkerFromThere(t *testing.T) {
	tab := browser.Start(t).Open(shown(t, &scripted{state: states()["large"]}), browser.View{})
	if n := browser.Evaluate[int](tab, `document.querySelectorAll("#part-map .map a").length`); n != 1024 {
		t.Errorf("the map has %d cells", n)
	}
	unfold(tab)
	tab.Run(chromedp.Click(`a[href="/workers?from=768"]`, chromedp.ByQuery))
	tab.Await(`document.querySelectorAll("#detail .map a").length === 64`)
	tab.Picture("block")
	tab.Run(chromedp.Click(`#detail a[href="/worker/800"]`, chromedp.ByQuery))
	tab.Await(`document.querySelector("#detail h2")?.textContent.includes("Worker 800")`)
}

func TestTheDecoderAnswersInPlace(t *testing.T) {
	node := &scripted{
		state: healthy(),
		decoded: report.Decoded{
			ID: 330678927360028672, Time: now.Add(-26 * time.Minute), Worker: 137, Sequence: 1203,
		},
		history: map[int][]report.Tenure{137: {{
			Term: 3, Node: "shop-proxy-2", Address: "10.0.4.12:6432", Version: "devel", Acquired: now.Add(-time.Hour),
			Until: now.Add(52 * time.Second),
		}}},
	}
	tab := browser.Start(t).Open(shown(t, node), browser.View{})
	tab.Expect("400 (Bad Request)")
	tab.Run(chromedp.SendKeys("#id", "12x\r", chromedp.ByQuery))
	tab.Await(`document.querySelector("#decoder-problem")?.textContent.startsWith('"12x" is no ID')`)
	tab.Await(`document.activeElement.id === "id"`)
	tab.Run(chromedp.SetValue("#id", "330678927360028672", chromedp.ByQuery),
		chromedp.Click(".decoder button", chromedp.ByQuery))
	tab.Await(`document.querySelector("#decoded")`)
	if text := tab.Text("#decoded"); !strings.Contains(text, "shop-proxy-2") || !strings.Contains(text, "1203") ||
		!strings.Contains(text, "2026-03-14T09:00:53Z") {
		t.Errorf("the ID is shown as %q", text)
	}
	tab.Picture("decoder")
}

func TestInvariant5WithoutJavaScriptThePageSaysAllAndItsLinksWork(t *testing.T) {
	node := &scripted{
		state:   changed(faults()["gate"]),
		decoded: report.Decoded{ID: 5, Time: now, Worker: 3, Sequence: 9},
	}
	page := shown(t, node)
	tab := browser.Start(t).Open(page, browser.View{NoScript: true})
	has(t, tab.Text("body"), "Worker 137, renewed", "The gate is closed")
	unfold(tab)
	tab.Run(chromedp.Click(`.map a[href="/worker/404"]`, chromedp.ByQuery),
		chromedp.WaitVisible(".back", chromedp.ByQuery))
	if text := tab.Text("main"); !strings.Contains(text, "never granted again") {
		t.Errorf("the worker is shown as %q", text)
	}
	tab.Picture("worker-alone")
	tab.Run(chromedp.Click(".back a", chromedp.ByQuery), chromedp.WaitVisible("#id", chromedp.ByQuery),
		chromedp.SendKeys("#id", "5", chromedp.ByQuery), chromedp.Click(".decoder button", chromedp.ByQuery),
		chromedp.WaitVisible("#decoded", chromedp.ByQuery))
	tab.Run(chromedp.Click(".back a", chromedp.ByQuery), chromedp.WaitVisible("header noscript a", chromedp.ByQuery))
}

func TestTheReadersTimeStandsBesideUTCAndInUTCNothingDoes(t *testing.T) {
	page, b := shown(t, &scripted{state: states()["gate"]}), browser.Start(t)
	at := `document.querySelector("#part-state .small").textContent`
	if said := browser.Evaluate[string](b.Open(page, browser.View{Zone: "Asia/Kolkata"}), at); !strings.Contains(said,
		"as of 2026-03-14T09:26:53Z (14:56:53 ") {
		t.Errorf("in Kolkata the page says %q", said)
	}
	tab := b.Open(page, browser.View{Zone: "Pacific/Auckland", Width: 390, Height: 844})
	headline := tab.Text("#sentence")
	if !strings.Contains(headline, "until 2026-03-14T09:28:13Z (22:28:13 ") {
		t.Errorf("in Auckland the page says %q", headline)
	}
	if end := tab.Text("#part-node"); !strings.Contains(end, "2093-09-06T15:47:35Z (2093-09-07 03:47:35 ") {
		t.Errorf("in Auckland the layout ends at %q, with the day there", end)
	}
	tab.Picture("zone")
	if said := browser.Evaluate[string](b.Open(page, browser.View{Zone: "UTC"}), at); strings.Contains(said, "(") {
		t.Errorf("in UTC the page says %q", said)
	}
}

func TestACommandIsCopiedWithAClickWithoutAPermission(t *testing.T) {
	tab := browser.Start(t).Open(shown(t, &scripted{state: states()["warnings"]}), browser.View{})
	tab.Run(chromedp.Evaluate(`Object.defineProperty(navigator, "clipboard", { value: undefined })`, nil),
		chromedp.Click("[data-kind=function_ahead] .copy", chromedp.ByQuery))
	tab.Await(`document.querySelector("[data-kind=function_ahead] .copy").textContent === "Copied"`)
	tab.Run(chromedp.Focus("#id", chromedp.ByQuery),
		input.DispatchKeyEvent(input.KeyDown).WithCommands([]string{"paste"}))
	tab.Await(`document.querySelector("#id").value === "pgflurry namespace set --database URL --fresh-worker"`)
}

func TestAHostsNameBreaksOnlyAtItsDots(t *testing.T) {
	long := changed(func(s *report.State) {
		s.Upstream = "db-primary-1.eu-central-1.shop-production-cluster.internal.example:5432"
	})
	tab := browser.Start(t).Open(shown(t, &scripted{state: long}), browser.View{Width: 390, Height: 844})
	broken := browser.Evaluate[[]string](tab, `[...document.querySelectorAll(".label")]
		.filter((label) => label.offsetHeight > 30).map((label) => label.textContent)`)
	if len(broken) > 0 || browser.Evaluate[int](tab, `document.querySelector(".who").offsetHeight`) < 40 {
		t.Errorf("the name is in one line, or these parts are broken: %q", broken)
	}
	if said := tab.Text(".who"); !strings.Contains(said, long.Upstream) {
		t.Errorf("the name reads %q", said)
	}
}

func TestThePageHasLandmarksAndNamesForAScreenReader(t *testing.T) {
	tab := browser.Start(t).Open(shown(t, &scripted{state: states()["warnings"]}), browser.View{})
	if n := browser.Evaluate[int](tab, `document.querySelectorAll("h1").length`); n != 1 {
		t.Errorf("the page has %d headings of the first rank", n)
	}
	unnamed := browser.Evaluate[[]string](tab, `
		[...document.querySelectorAll("section, input, [role=img], [role=group]")]
		.filter((e) => !e.labels?.length && !e.getAttribute("aria-label"))
		.filter((e) => !document.getElementById(e.getAttribute("aria-labelledby")))
		.map((e) => e.outerHTML.slice(0, 80))`)
	if len(unnamed) > 0 {
		t.Errorf("these have no name: %q", unnamed)
	}
	twice := browser.Evaluate[[]string](tab, `[...document.querySelectorAll("[id]")].map((e) => e.id)
		.filter((id, i, all) => all.indexOf(id) !== i)`)
	if len(twice) > 0 {
		t.Errorf("these names stand twice: %q", twice)
	}
	if n := browser.Evaluate[int](tab, `document.querySelectorAll("main, header, footer").length`); n != 3 {
		t.Errorf("the page has %d landmarks", n)
	}
}
