package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgflurry/internal/report"
)

// detail is the worker, or the block of workers, that a person asked for.
type detail struct {
	Number  int
	Worker  *report.Worker // nil: never used
	Kind    kind
	Against string // its mark compared with the database's clock, in words
	History []report.Tenure
	Problem string // why there is no history, or no such worker

	Block       *workerMap // set for a block, instead of all above
	First, Last int
}

// worker shows one worker: GET /worker/N, or /worker?number=N from the form.
func (p *page) worker(w http.ResponseWriter, r *http.Request) {
	text := r.PathValue("number")
	if text == "" {
		text = r.URL.Query().Get("number")
	}
	v := p.view()
	number, problem := readNumber(v.State, text)
	if problem != "" {
		v.Title, v.Detail = "No such worker", &detail{Problem: problem}
		p.answer(w, r, http.StatusNotFound, "detail", v)
		return
	}
	v.Title, v.Detail = "Worker "+strconv.Itoa(number), newDetail(v.State, number)
	history, err := p.history(r.Context(), number)
	v.Detail.History = history
	if err != nil {
		v.Detail.Problem = "The history is not known: " + oneLine(err.Error())
	}
	p.answer(w, r, http.StatusOK, "detail", v)
}

// block shows the workers of one cell if a cell is a block: GET /workers?from=N.
func (p *page) block(w http.ResponseWriter, r *http.Request) {
	v := p.view()
	from, problem := readNumber(v.State, r.URL.Query().Get("from"))
	if problem != "" {
		v.Title, v.Detail = "No such workers", &detail{Problem: problem}
		p.answer(w, r, http.StatusNotFound, "detail", v)
		return
	}
	from -= from % v.Map.Block
	block := newWorkerMap(v.State, from, from+v.Map.Block)
	v.Detail = &detail{Block: &block, First: from, Last: from + len(block.Cells) - 1}
	v.Title = fmt.Sprintf("Workers %d to %d", v.Detail.First, v.Detail.Last)
	p.answer(w, r, http.StatusOK, "detail", v)
}

// answer renders a part as a page of its own, or alone for the page's script.
func (p *page) answer(w http.ResponseWriter, r *http.Request, status int, part string, v view) {
	if !r.URL.Query().Has("part") {
		part = "alone"
	}
	p.render(part, v).write(w, status)
}

// readNumber parses a worker's number. Otherwise it returns a sentence that says what is wrong.
func readNumber(s report.State, text string) (int, string) {
	if s.Namespace.Workers == 0 {
		return 0, "The workers are not known yet: the namespace was not read."
	}
	number, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || number < s.Namespace.Lowest || number >= s.Namespace.Past() {
		return 0, fmt.Sprintf("There is no worker %s: expected a number from %d to %d.",
			echo(text), s.Namespace.Lowest, s.Namespace.Past()-1)
	}
	return number, ""
}

// echo repeats what a person typed, within limits.
func echo(text string) string {
	const most = 40
	text = oneLine(text)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return "“" + text + "”"
}

func newDetail(s report.State, number int) *detail {
	d := &detail{Number: number}
	if i := slices.IndexFunc(s.Workers.Rows, func(w report.Worker) bool { return w.Number == number }); i >= 0 {
		d.Worker = &s.Workers.Rows[i]
	}
	d.Kind = kinds[stateOf(s, number, d.Worker)]
	switch {
	case d.Worker == nil || d.Worker.Left == nil:
		d.Against = "not known"
	case *d.Worker.Left > 0:
		d.Against = fmt.Sprintf("%s ahead of the database's clock", lasting(*d.Worker.Left))
	default:
		d.Against = fmt.Sprintf("passed %s ago", lasting(-*d.Worker.Left))
	}
	return d
}

var errBusy = errors.New("others are asking the lease database already; try again")

// history asks the lease database who had a worker, with a short timeout.
func (p *page) history(ctx context.Context, worker int) ([]report.Tenure, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, errBusy
	}
	history, err := p.node.History(ctx, worker)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("the lease database has not answered within %s", lasting(p.patience))
	}
	return history, err
}

// holder finds who had a worker at a time: the first tenure whose mark is later, if it had begun. The next tenure
// begins at that mark or later. An ID's time is the start of its tick, which lasts a second at most. So the time may be
// up to a second before the acquisition.
func holder(history []report.Tenure, at time.Time) (report.Tenure, bool) {
	const longestTick = time.Second
	var found report.Tenure
	for _, t := range history {
		if t.Until.After(at) && (found.Until.IsZero() || t.Until.Before(found.Until)) {
			found = t
		}
	}
	return found, !found.Until.IsZero() && !found.Acquired.IsZero() && !found.Acquired.Add(-longestTick).After(at)
}
