package admin

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"pgflurry/internal/report"
)

var (
	//go:embed page/*.html
	pageTemplates embed.FS

	//go:embed page/page.css page/page.js page/icon.svg
	pageAssets embed.FS
)

// contentPolicy lets the browser load nothing from other places, and run no script or style inside the page itself.
const contentPolicy = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// askedAtOnce is how many requests may ask the lease database at a time, which is as many as a Node accepts. The others
// wait.
const askedAtOnce = 1

// page is the status page.
type page struct {
	node      Node
	state     *report.Recent[report.State]
	latest    *report.Recent[view] // as for the first page
	samples   samples
	templates *template.Template
	rendering sync.Mutex
	asking    chan struct{}
	patience  time.Duration // how long to wait for the lease database
}

func newPage(node Node, state *report.Recent[report.State]) *page {
	marked := marker()
	functions := template.FuncMap{
		"lasting": lasting, "fine": fine, "count": grouped[int], "total": grouped[int64], "relative": relative,
		"marked": marked, "worth": worth, "beside": beside, "given": given,
		"instant":  func(t time.Time) template.HTML { return marked(instant(t)) },
		"known":    func(t time.Time) bool { return !t.IsZero() },
		"withNoun": withNoun[int], "withNouns": withNoun[int64],
	}
	p := &page{
		node:      node,
		state:     state,
		templates: template.Must(template.New("").Funcs(functions).ParseFS(pageTemplates, "page/*.html")),
		asking:    make(chan struct{}, askedAtOnce),
		patience:  3 * time.Second,
	}
	p.latest = report.NewRecent(time.Second, p.newView)
	return p
}

// register adds the page to a mux.
func (p *page) register(mux *http.ServeMux) {
	for path, name := range map[string]string{"/{$}": "whole", "/fragment": "parts"} {
		shared := report.NewRecent(time.Second, func() result { return p.render(name, p.newView()) }) // by all who ask
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { shared.Get().write(w, http.StatusOK) })
	}
	mux.HandleFunc("/worker/{number}", p.worker)
	mux.HandleFunc("/worker", p.worker) // from the form
	mux.HandleFunc("/workers", p.block)
	mux.HandleFunc("/decode", p.decode)
	for name, kind := range map[string]string{
		"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
	} {
		mux.HandleFunc("/page/"+name, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, pageAssets, "page/"+name)
		})
	}
}

// watch takes a sample every two seconds until ctx ends.
func (p *page) watch(ctx context.Context) {
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	for {
		p.samples.add(p.state.Anew())
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// view is the data of the templates.
type view struct {
	report.State
	Title    string // empty on the first page
	Sentence string
	Standing string
	Warnings []Warning
	Map      workerMap
	Charts   []chart
	Tags     []report.Segment
	Unlisted string // how many segments are not listed; empty: none
	Detail   *detail
	Decoder  decoder
	Open     int   // sessions with PostgreSQL
	Given    int64 // IDs
}

// marker returns a function that writes a text as HTML. The script adds the reader's time to what is marked as an
// instant, which is in UTC. A host's name with two dots or more breaks only after a dot.
func marker() func(text string) template.HTML {
	marks := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|[A-Za-z][\w-]*(?:\.[\w-]+){2,}(?::\d+)?`)
	return func(text string) template.HTML {
		return template.HTML(marks.ReplaceAllStringFunc(template.HTMLEscapeString(text), func(found string) string {
			if _, err := time.Parse(time.RFC3339, found); err == nil {
				return "<time>" + found + "</time>"
			}
			const end, next = "</span>", `<span class="label">`
			return next + strings.ReplaceAll(found, ".", "."+end+next) + end
		}))
	}
}

// given is what calls to a database get now: what it permits, or "no_ids" if there are none to give.
func given(l report.Lease, permitted string) string {
	if permitted != "none" && l.Reserve <= 0 {
		return "no_ids"
	}
	return permitted
}

// mostSegments limits the segments on the page.
const mostSegments = 100

// view is the view of the first page. The caller may set its fields, and must not change what they lead to.
func (p *page) view() view { return p.latest.Get() }

func (p *page) newView() view {
	s := p.state.Anew()
	v := view{
		State: s, Standing: standing(s), Warnings: Warnings(s),
		Map:    newWorkerMap(s, s.Namespace.Lowest, s.Namespace.Past()),
		Charts: charts(p.samples.series()), Tags: s.Segments, Open: relayed(s),
		Given: s.Answers.IDs + s.IDDatabase.IDs,
	}
	rate := ""
	if len(v.Charts[0].Line) > 0 {
		rate = ", " + v.Charts[0].Now + " a second"
	}
	v.Sentence = headline(s, rate)
	if v.Standing == "good" && len(v.Warnings) > 0 && v.Warnings[0].Severe {
		v.Standing = "partly"
	}
	if more := len(v.Tags) - mostSegments; more > 0 {
		v.Tags, v.Unlisted = v.Tags[:mostSegments], grouped(more)
	}
	return v
}

// result is a template with its data, or why there is none.
type result struct {
	body []byte
	err  error
}

// render renders one template at a time: a page of many workers takes milliseconds, which others need.
func (p *page) render(name string, v view) result {
	p.rendering.Lock()
	defer p.rendering.Unlock()
	var body bytes.Buffer
	err := p.templates.ExecuteTemplate(&body, name, v)
	return result{body.Bytes(), err}
}

func (r result) write(w http.ResponseWriter, status int) {
	if r.err != nil {
		http.Error(w, "the page could not be written: "+r.err.Error(), http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(r.body) // the client may be gone
}
