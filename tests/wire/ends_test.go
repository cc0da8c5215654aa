package wire

import (
	"fmt"
	"testing"
)

// mixed has something of everything, in few bytes.
var mixed = conversation{steps: []step{
	together(unit(ours), Sync, Query(ours), Parse("s", ours), Sync, Bind("", "s"), Execute(""), Sync),
	together(Query("SELECT 1"), unit(ours), unit(divide), Query(ours), Sync, DescribeStatement(""), Sync, Query(ours)),
}}

// A client may say all it has and goodbye in one breath, and read afterwards.
func TestGoodbyeDoesNotCutRepliesOff(t *testing.T) {
	st := newStand(t, 1)
	for _, c := range []conversation{
		{steps: []step{say(Query("SELECT 1"))}},
		{steps: []step{say(Query(ours))}},
		{steps: []step{say(Query("SELECT generate_series(1, 20000)"))}},
		{steps: []step{together(unit("SELECT 1"), Sync)}},
		mixed,
	} {
		want, err := st.postgresSays(c, c.all())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []*house{st.answering, st.moody, st.relaying, st.chopped} {
			s, err := open(h.dial, h.name, st.database)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.say(append(joinBytes(c.all()), Terminate.bytes...)); err != nil {
				t.Fatal(err)
			}
			if d := difference(want, s.finish(), h.name); d != "" {
				t.Errorf("goodbye in one breath with\n%s%s", c, d)
			}
		}
	}
}

// A client that closes its sending side without a goodbye still gets its replies.
func TestHalfCloseDoesNotCutRepliesOff(t *testing.T) {
	st := newStand(t, 1)
	for _, c := range []conversation{{steps: []step{say(Query("SELECT generate_series(1, 20000)"))}}, mixed} {
		want, err := st.postgresSays(c, c.all())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []*house{st.answering, st.relaying} {
			s, err := open(h.dial, h.name, st.database)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.say(joinBytes(c.all())); err != nil {
				t.Fatal(err)
			}
			if err := s.conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if d := difference(want, s.finish(), h.name); d != "" {
				t.Errorf("half-close after\n%s%s", c, d)
			}
		}
	}
}

func TestBytesMayBeCutAnywhere(t *testing.T) {
	st := newStand(t, 1)
	want, err := st.postgresSays(mixed, mixed.all())
	if err != nil {
		t.Fatal(err)
	}
	for offset := range len(joinBytes(mixed.all())) {
		got, err := st.cutThrough(mixed, st.answering.pipe, "answering", offset)
		if d := difference(want, got, fmt.Sprintf("answering proxy, cut at %d", offset)); d != "" || err != nil {
			t.Fatalf("%v %s", err, d)
		}
	}
}
