package proxy

import (
	"bytes"
	"testing"

	"pgflurry/proxy/internal/frame"
)

func TestABatchOfWholeRequestsIsAnswered(t *testing.T) {
	types := message('t', []byte{0, 0})
	closeIt, describeStatement := message('C', []byte{'P', 0}), message('D', []byte{'S', 0})
	one := message('E', z(""), []byte{0, 0, 0, 1})
	for name, c := range map[string]struct{ said, heard []byte }{
		"all there can be": {
			join(ourParse, describeStatement, bindIt, describeIt, executeAll, closeIt),
			join(parseDone, types, ourRow, bindDone, ourRow, dataRow("1"), complete("SELECT 1"), closeDone),
		},
		"as little as can be": {
			join(ourParse, bindIt, executeAll, bindIt, executeAll),
			join(parseDone, bindDone, dataRow("1"), complete("SELECT 1"), bindDone, dataRow("2"), complete("SELECT 1")),
		},
		"described before its Bind, again": {
			join(ourParse, bindIt, executeAll, describeStatement, bindIt, one),
			join(parseDone, bindDone, dataRow("1"), complete("SELECT 1"), types, ourRow, bindDone,
				dataRow("2"), message('s')),
		},
		"closed each": {
			join(bytes.Repeat(join(ourParse, bindIt, executeAll, closeIt), 2)),
			join(parseDone, bindDone, dataRow("1"), complete("SELECT 1"), closeDone, parseDone, bindDone, dataRow("2"),
				complete("SELECT 1"), closeDone),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.send(c.said, syncIt)
			r.toClient(c.heard, ready('I'))
			r.begins()
			r.send(c.said[:9])
			r.send(c.said[9:], syncIt)
			r.skips(len(c.heard))
			r.toClient(ready('T'))
		})
	}
}

// skips reads n bytes at the client, and ignores them.
func (r *rig) skips(n int) {
	r.t.Helper()
	in := make([]byte, n)
	for read := 0; read < n; {
		k, err := r.client.Read(in[read:])
		if err != nil {
			r.t.Fatal(err)
		}
		read += k
	}
}

func TestABatchThatHoldsAnythingElseIsForwardedWhole(t *testing.T) {
	request := join(ourParse, bindIt, describeIt, executeAll)
	describeNamed := message('D', []byte{'S'}, z("n"))
	for name, batch := range map[string][]byte{
		"a statement of the client's": join(request, parse("", "SELECT 1"), bindIt, executeAll, syncIt),
		"the same first":              join(parse("", "SELECT 1"), bindIt, executeAll, request, syncIt),
		"a named Parse":               join(request, parse("n", ourText), syncIt),
		"a named portal":              join(ourParse, bind("p", ""), message('E', z("p"), []byte{0, 0, 0, 0}), syncIt),
		"a second Execute":            join(request, executeAll, syncIt),
		"a second Describe":           join(ourParse, bindIt, describeIt, describeIt, executeAll, syncIt),
		"a second Bind":               join(ourParse, bindIt, bindIt, executeAll, syncIt),
		"a second Close": join(request, message('C', []byte{'P', 0}),
			message('C', []byte{'P', 0}), syncIt),
		"a Describe behind the Execute":   join(request, describeIt, syncIt),
		"the Close of a statement":        join(request, message('C', []byte{'S', 0}), syncIt),
		"a Describe of what is not known": join(request, describeNamed, syncIt),
		"no Execute":                      join(ourParse, bindIt, syncIt),
		"no Bind":                         join(ourParse, syncIt),
		"a Flush":                         join(request, flushIt, syncIt),
		"a Flush first":                   join(ourParse, flushIt, bindIt, executeAll, syncIt),
		"a CopyDone":                      join(request, message('c'), syncIt),
		"CopyData":                        join(ourParse, message('d', []byte("x")), bindIt, executeAll, syncIt),
		"a FunctionCall":                  join(request, message('F', []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0}), syncIt),
		"a Query":                         join(request, ourQuery, syncIt),
		"a malformed Bind":                join(ourParse, message('B', z("")), executeAll, syncIt),
		"a malformed Sync":                join(request, message('S', []byte{0})),
		"nothing but a Sync":              syncIt,
		"rows in parts": join(parse("", "SELECT * FROM next_snowflakes(5)"), bindIt,
			message('E', z(""), []byte{0, 0, 0, 2}), syncIt),
		"more than a buffer holds": join(bytes.Repeat(request, 1+frame.WideSize/len(request)), syncIt),
		"more IDs than a batch may have": join(
			bytes.Repeat(join(parse("", "SELECT * FROM next_snowflakes(10000)"), bindIt, executeAll), 11), syncIt),
	} {
		t.Run(name, func(t *testing.T) {
			ids := &counter{}
			r := newRig(t, ids)
			go r.client.Write(batch)
			r.toUpstream(batch)
			if n := ids.last.Load(); n > 0 {
				t.Errorf("%d IDs were drawn", n)
			}
		})
	}
}

func TestWhatIsHeldIsForwardedWhenTheClientLeaves(t *testing.T) {
	for name, said := range map[string][]byte{
		"behind a request": join(ourParse, bindIt, describeIt, executeAll),
		"within one":       join(ourParse, bindIt),
		"in a message":     join(ourParse, bindIt[:7]),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, &counter{})
			r.send(said)
			r.client.Close()
			if got := r.rest(r.upstream); !bytes.Equal(got, said) {
				t.Fatalf("upstream got %q; expected %q", got, said)
			}
		})
	}
}

func TestAFlushOutsideABatchOwesNothing(t *testing.T) {
	r := newRig(t, &counter{})
	r.send(flushIt)
	r.toUpstream(flushIt)
	r.answersAgain("1")
}
