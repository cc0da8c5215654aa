package logs

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// Lines of one kind are written after countFirst at the soonest. While they go on that time doubles, up to
// countLongest.
const (
	countFirst   = time.Second
	countLongest = time.Minute
)

// sessionAttribute is in every line about a session or a connection of a client.
const sessionAttribute = "client"

// countingHandler writes the first line of a kind at once. It only counts equal lines within the next second. Then it
// writes one more, with the attributes of the last line, and with "repeated": the number of lines that it stands for.
// The next one comes two seconds later, and so on. So a trouble of an hour has less than 70 lines.
//
// It dates each line when it writes it. So the times in the log never fall, however long a line was only counted.
//
// Lines about sessions are equal if level and message are equal: their clients differ, and so do the ports in a cause.
// Other lines are equal only if their attributes are, too.
type countingHandler struct {
	lines slog.Handler
	kinds *lineKinds
	with  string // attributes and groups of this handler
	ofOne bool   // they include sessionAttribute
}

// lineKinds is shared by all handlers of one logger.
type lineKinds struct {
	mu     sync.Mutex
	recent map[string]*lineKind // those with a line lately
	now    func() time.Time
	ended  bool // no more counting: every line is written at once
}

// lineKind counts the lines of one kind since the last that was written.
type lineKind struct {
	repeated int
	pause    time.Duration // until the next line
	last     slog.Record
	lines    slog.Handler // handler of the last line
}

// Thin makes a handler that thins a flood of equal lines. now dates all lines. Call end after the last line: it writes
// the lines that were only counted.
func Thin(lines slog.Handler, now func() time.Time) (thinned slog.Handler, end func()) {
	kinds := &lineKinds{recent: make(map[string]*lineKind), now: now}
	return &countingHandler{lines: lines, kinds: kinds}, kinds.end
}

func (h *countingHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.lines.Enabled(ctx, level)
}

func (h *countingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	derived := *h
	derived.lines = h.lines.WithAttrs(attrs)
	for _, a := range attrs {
		derived.with += "\n" + a.String()
		derived.ofOne = derived.ofOne || a.Key == sessionAttribute
	}
	return &derived
}

func (h *countingHandler) WithGroup(name string) slog.Handler {
	derived := *h
	derived.lines, derived.with = h.lines.WithGroup(name), h.with+"\n"+name+"."
	return &derived
}

func (h *countingHandler) Handle(ctx context.Context, r slog.Record) error {
	kind, k := h.kindOf(r), h.kinds
	k.mu.Lock()
	defer k.mu.Unlock()
	if seen := k.recent[kind]; seen != nil {
		seen.repeated++
		seen.last, seen.lines = r.Clone(), h.lines
		return nil
	}
	if !k.ended {
		k.recent[kind] = &lineKind{pause: countFirst}
		time.AfterFunc(countFirst, func() { k.next(kind) })
	}
	r.Time = k.now()
	return h.lines.Handle(ctx, r)
}

func (h *countingHandler) kindOf(r slog.Record) string {
	kind, ofOne := []string{r.Level.String(), r.Message}, h.ofOne
	var others strings.Builder
	r.Attrs(func(a slog.Attr) bool {
		others.WriteString("\n" + a.String())
		ofOne = ofOne || a.Key == sessionAttribute
		return true
	})
	if !ofOne {
		kind = append(kind, h.with, others.String())
	}
	return strings.Join(kind, "\n")
}

// next writes one line for all that were counted in the pause, and doubles it. If there were none, the next line counts
// as a first one.
func (k *lineKinds) next(kind string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen := k.recent[kind]
	switch {
	case seen == nil: // end was called
	case seen.repeated == 0:
		delete(k.recent, kind)
	default:
		seen.write(k.now())
		seen.pause = min(2*seen.pause, countLongest)
		time.AfterFunc(seen.pause, func() { k.next(kind) })
	}
}

// end writes the lines that were only counted. From now on every line is written at once.
func (k *lineKinds) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	var pending []*lineKind
	for _, seen := range k.recent {
		if seen.repeated > 0 {
			pending = append(pending, seen)
		}
	}
	slices.SortFunc(pending, func(a, b *lineKind) int {
		return cmp.Compare(a.last.Time.UnixNano(), b.last.Time.UnixNano())
	})
	for _, seen := range pending {
		seen.write(k.now())
	}
	k.recent, k.ended = nil, true
}

func (k *lineKind) write(at time.Time) {
	k.last.Time = at
	k.last.AddAttrs(slog.Int("repeated", k.repeated))
	_ = k.lines.Handle(context.Background(), k.last) // nobody is left to hear of an error
	k.repeated, k.last = 0, slog.Record{}
}
