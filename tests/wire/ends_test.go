package wire

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"pgflurry/tests/support/volume"
)

// mixed has a little of everything.
var mixed = conversation{steps: []step{
	together(request(ours), Sync, Query(ours), Parse("s", ours), Sync, Bind("", "s"), Execute(""), Sync),
	together(Query("SELECT 1"), request(ours), request(divide), request(ours), Sync, DescribeStatement(""),
		Sync, Query(ours)),
}}

// A client may send everything and a Terminate at once, and read afterwards.
func TestGoodbyeDoesNotCutRepliesOff(t *testing.T) {
	t.Parallel()
	st := newStand(t, 1)
	for _, c := range []conversation{
		{steps: []step{say(Query("SELECT 1"))}},
		{steps: []step{say(Query(ours))}},
		{steps: []step{say(Query("SELECT generate_series(1, 20000)"))}},
		{steps: []step{together(request("SELECT 1"), Sync)}},
		mixed,
	} {
		for _, h := range []*house{st.answering, st.moody, st.relaying, st.chopped} {
			s, err := open(h.dial, h.name, st.database)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.say(append(joinBytes(c.all()), Terminate.bytes...)); err != nil {
				t.Fatal(err)
			}
			st.agrees(t, c, s.finish(), nil, h.name+", goodbye in one breath")
		}
	}
}

// A client that closes its sending side without a Terminate still gets its replies.
func TestHalfCloseDoesNotCutRepliesOff(t *testing.T) {
	t.Parallel()
	st := newStand(t, 1)
	var clients sync.WaitGroup
	for _, c := range []conversation{
		{steps: []step{say(Query("SELECT generate_series(1, 20000)"))}},
		{steps: []step{say(Query("SELECT pg_sleep(.5)"))}},
		{steps: []step{together(request(ours), Sync, request("SELECT pg_sleep(.5)"), Sync)}},
		{steps: []step{together(request("SELECT pg_sleep(.5)"), Flush)}},
		mixed,
	} {
		for _, h := range []*house{st.answering, st.relaying} {
			clients.Go(func() {
				s, err := open(h.dial, h.name, st.database)
				if err == nil {
					err = s.say(joinBytes(c.all()))
				}
				if err != nil || !s.halfClose() {
					t.Errorf("%s: %v", h.name, err)
					return
				}
				st.agrees(t, c, s.finish(), nil, h.name+", half-close")
			})
		}
	}
	clients.Wait()
}

func TestBytesMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	st := newStand(t, 1)
	size, every := len(joinBytes(mixed.all())), volume.Of(5, 1)
	for offset := rand.IntN(every); offset < size; offset += every {
		got, err := st.cutThrough(mixed, st.answering.pipe, "answering", offset)
		if !st.agrees(t, mixed, got, err, fmt.Sprintf("answering proxy, cut at %d", offset)) {
			return
		}
	}
}
