// Package browser opens pages in a headless Chromium, and fails the test if a page complains.
package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience limits each step in a page. A step needs far less.
const patience = time.Minute

// Browser opens tabs for a test, in the one Chromium of its package.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// shared is that Chromium. A start costs seconds of processor time.
var shared struct {
	sync.Mutex
	ctx context.Context // nil: it does not run
	end func()
}

// Start runs Debian's Chromium, unless it runs already. Without Chromium the test is skipped, or fails if
// PGFLURRY_TEST_BROWSER is set. TestMain has to call End.
func Start(t testing.TB) *Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("PGFLURRY_TEST_BROWSER") != "" {
			t.Fatalf("no browser: %v; install the package chromium", err)
		}
		t.Skipf("no browser: %v; PGFLURRY_TEST_BROWSER=1 makes this a failure", err)
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.ctx == nil {
		run(t, path)
	}
	return &Browser{t: t, ctx: shared.ctx}
}

// run starts Chromium. The caller has the lock.
func run(t testing.TB, path string) {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.Flag("hide-scrollbars", true), chromedp.WSURLReadTimeout(patience))
	allocator, endAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	shared.end = func() {
		_ = chromedp.Cancel(ctx) // waits until the program has ended
		end()
		endAll()
	}
	if err := chromedp.Run(ctx); err != nil {
		shared.end()
		t.Fatalf("the browser does not start: %v", err)
	}
	shared.ctx = ctx
}

// End ends Chromium, if it runs. Call it after all tests of the package.
func End() {
	shared.Lock()
	defer shared.Unlock()
	if shared.ctx != nil {
		shared.end()
		shared.ctx = nil
	}
}

// View is how a tab looks at pages.
type View struct {
	Width, Height int // of the window; 0: 1280 and 900
	Dark          bool
	NoScript      bool
	Zone          string // the reader's time zone, such as "Europe/Berlin"; empty: that of this machine
}

// Tab is one page. A message on its console fails the test, and so does a request to another origin.
type Tab struct {
	t      testing.TB
	ctx    context.Context
	end    context.CancelFunc
	origin string

	mu       sync.Mutex
	expected []string // console messages that contain one of these are expected
}

// Open shows a page.
func (b *Browser) Open(page string, view View) *Tab {
	b.t.Helper()
	if view.Width == 0 {
		view.Width, view.Height = 1280, 900
	}
	at, err := url.Parse(page)
	if err != nil {
		b.t.Fatal(err)
	}
	ctx, end := chromedp.NewContext(b.ctx)
	tab := &Tab{t: b.t, ctx: ctx, end: end, origin: at.Scheme + "://" + at.Host}
	b.t.Cleanup(end)
	scheme := "light"
	if view.Dark {
		scheme = "dark"
	}
	chromedp.ListenTarget(ctx, tab.heard)
	if err := chromedp.Run(ctx); err != nil { // the tab ends when the context of its first action does
		b.t.Fatalf("the browser opens no tab: %v", err)
	}
	tab.Run(
		network.Enable(), log.Enable(), runtime.Enable(),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
		}),
		emulation.SetScriptExecutionDisabled(view.NoScript),
		emulation.SetTimezoneOverride(view.Zone),
		chromedp.EmulateViewport(int64(view.Width), int64(view.Height)),
		chromedp.Navigate(page),
	)
	return tab
}

// Close ends a tab before the test ends.
func (tab *Tab) Close() { tab.end() }

// heard handles an event of the page. It runs on the browser's goroutine.
func (tab *Tab) heard(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, tab.origin+"/") {
			tab.t.Errorf("the page asks %s", e.Request.URL)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			tab.complain(e.Entry.Text + " " + e.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		tab.complain(e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		tab.complain(fmt.Sprintf("console.%s", e.Type))
	}
}

func (tab *Tab) complain(text string) {
	for _, expected := range tab.expected {
		if strings.Contains(text, expected) {
			return
		}
	}
	tab.t.Errorf("the browser complains: %s", text)
}

// Expect allows console messages with this text from now on.
func (tab *Tab) Expect(text string) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	tab.expected = append(tab.expected, text)
}

// Run does actions one after the other.
func (tab *Tab) Run(actions ...chromedp.Action) {
	tab.t.Helper()
	ctx, cancel := context.WithTimeout(tab.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		tab.t.Fatalf("the browser did not do it: %v", err)
	}
}

// Evaluate returns the value of a JavaScript expression.
func Evaluate[T any](tab *Tab, expression string) (value T) {
	tab.t.Helper()
	tab.Run(chromedp.Evaluate(expression, &value))
	return value
}

// Await waits until a JavaScript expression is true.
func (tab *Tab) Await(expression string) {
	tab.t.Helper()
	tab.Run(chromedp.Poll(expression, nil, chromedp.WithPollingInterval(20*time.Millisecond),
		chromedp.WithPollingTimeout(patience)))
}

// Text returns what a reader sees of the first element that a selector finds.
func (tab *Tab) Text(selector string) (text string) {
	tab.t.Helper()
	tab.Run(chromedp.Text(selector, &text, chromedp.ByQuery))
	return text
}

// Picture writes the whole page as NAME.png into the folder of PGFLURRY_TEST_PICTURES, if that is set.
func (tab *Tab) Picture(name string) {
	tab.t.Helper()
	folder := os.Getenv("PGFLURRY_TEST_PICTURES")
	if folder == "" {
		return
	}
	var shot []byte
	tab.Run(chromedp.FullScreenshot(&shot, 100))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		tab.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), shot, 0o644); err != nil {
		tab.t.Fatal(err)
	}
}
