package proxy

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"pgflurry/internal/draw"
)

// rationed gives few IDs at a time, and none after the last.
type rationed struct {
	few, last int
	given     int
}

func (x *rationed) TryNextN(n int) (int64, int, error) {
	n = min(n, x.few, x.last-x.given)
	if n == 0 {
		return 0, 0, errors.New("no grant")
	}
	x.given += n
	return int64(x.given - n + 1), n, nil
}

func (x *rationed) NextN(_ context.Context, n int) (int64, int, error) { return x.TryNextN(n) }

// numbers returns the texts of the numbers from first to last.
func numbers(first, last int) (all []string) {
	for n := first; n <= last; n++ {
		all = append(all, strconv.Itoa(n))
	}
	return all
}

func TestRequestsThatRepeatInAPipelineAreAnsweredOneByOne(t *testing.T) {
	one := message('E', z(""), []byte{0, 0, 0, 1})
	text := message('T', []byte{0, 1}, z("next_snowflake"),
		[]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0})
	for name, c := range map[string]struct {
		request, before, after []byte // the request; its reply before and after the row
		times                  int
		ids                    draw.Source
		want                   []string
	}{
		"bare": {
			join(ourParse, bindIt, executeAll), join(parseDone, bindDone), complete("SELECT 1"), 9,
			&counter{}, numbers(1, 9),
		},
		"described": {
			join(ourParse, bindIt, describeIt, executeAll), join(parseDone, bindDone, ourRow), complete("SELECT 1"), 5,
			&counter{}, numbers(1, 5),
		},
		"one row wanted": {
			join(ourParse, bindIt, one), join(parseDone, bindDone), message('s'), 5, &counter{}, numbers(1, 5),
		},
		"text": {
			join(parse("", "SELECT next_snowflake()::text"), bindIt, describeIt, executeAll),
			join(parseDone, bindDone, text), complete("SELECT 1"), 5, &counter{}, numbers(1, 5),
		},
		"in binary": {
			join(ourParse, bindBinary, executeAll), join(parseDone, bindDone), complete("SELECT 1"), 3, &counter{},
			[]string{
				"\x00\x00\x00\x00\x00\x00\x00\x01", "\x00\x00\x00\x00\x00\x00\x00\x02",
				"\x00\x00\x00\x00\x00\x00\x00\x03",
			},
		},
		"few IDs at a time": {
			join(ourParse, bindIt, executeAll), join(parseDone, bindDone), complete("SELECT 1"), 9,
			&rationed{few: 2, last: 9}, numbers(1, 9),
		},
		"IDs that get longer": {
			join(ourParse, bindIt, executeAll), join(parseDone, bindDone), complete("SELECT 1"), 12,
			&counter{}, numbers(1, 12),
		},
		"more than a chunk": {
			join(ourParse, bindIt, executeAll), join(parseDone, bindDone), complete("SELECT 1"), 900, &long{},
			(&long{}).all(900),
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.ids)
			var sent, want []byte
			for i := range c.times {
				sent = append(sent, c.request...)
				want = append(want, join(c.before, dataRow(c.want[i]), c.after)...)
			}
			go r.client.Write(join(sent, syncIt))
			r.toClient(want, ready('I'))
		})
	}
}

// long gives IDs of the same length.
type long struct{ counter }

const beforeLong = 1_000_000_000

func (x *long) TryNextN(n int) (int64, int, error) {
	first, n, err := x.counter.TryNextN(n)
	return beforeLong + first, n, err
}

func (x *long) NextN(_ context.Context, n int) (int64, int, error) { return x.TryNextN(n) }

func (x *long) all(n int) []string { return numbers(beforeLong+1, beforeLong+n) }

func TestABatchThatCannotHaveAllItsIDsIsForwardedWhole(t *testing.T) {
	r := newRig(t, &rationed{few: 9, last: 3})
	request := join(bind("", "s"), executeAll)
	r.relays(join(parse("s", "SELECT next_snowflake()"), syncIt), join(parseDone, ready('I')))
	r.relays(join(request, request, request, request, request, syncIt),
		join(bindDone, dataRow("7"), complete("SELECT 1"), ready('I')))
}

func TestRequestsThatDifferAreAnsweredInTheirOrder(t *testing.T) {
	r := newRig(t, &counter{})
	request := join(ourParse, bindIt, executeAll)
	answer := func(id string) []byte { return join(parseDone, bindDone, dataRow(id), complete("SELECT 1")) }
	r.send(request, request, join(ourParse, bindBinary, executeAll), request, request[:len(request)-1])
	r.send(request[len(request)-1:], request, syncIt)
	r.toClient(answer("1"), answer("2"),
		join(parseDone, bindDone, dataRow("\x00\x00\x00\x00\x00\x00\x00\x03"), complete("SELECT 1")),
		answer("4"), answer("5"), answer("6"), ready('I'))
}
