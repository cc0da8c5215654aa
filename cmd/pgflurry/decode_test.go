package main

import (
	"bytes"
	"strings"
	"testing"
)

// runDecode runs the command in this process.
func runDecode(t *testing.T, stdin string, args ...string) (out, errs string, err error) {
	t.Helper()
	root := newRoot()
	var stdout, stderr bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	root.SetArgs(append([]string{"decode"}, args...))
	err = root.ExecuteContext(t.Context())
	return stdout.String(), stderr.String(), err
}

func TestDecodeShowsWhatIsInAnID(t *testing.T) {
	want := `ID                  TIME                      DATACENTER  WORKER  SEQUENCE  BASE32
330678927360028672  2026-07-01T12:00:00.000Z  -           7       0         095PEQE000W00
330678927360028673  2026-07-01T12:00:00.000Z  -           7       1         095PEQE000W01
`
	out, errs, err := runDecode(t, "", "330678927360028672", "095peqe-000w01U")
	if out != want || !strings.HasPrefix(errs, "assuming layout 41/0/10/12") || err != nil {
		t.Errorf("got\n%s%s%v\nwant\n%s", out, errs, err, want)
	}
}

func TestDecodeTakesTheLayoutFromFlags(t *testing.T) {
	// 86403<<22 | 2<<17 | 5<<12 | 9
	out, errs, err := runDecode(t, "", "362400731145", "--layout", "datacenter", "--epoch", "2020-01-01T00:00:00+01:00",
		"--unit", "1s", "--json")
	const want = `[ { "id": "362400731145", "time": "2020-01-01T23:00:03.000Z", "datacenter": 2, "worker": 69, ` +
		`"sequence": 9, "base32": "00000AHGC8M09" } ]`
	if strings.Join(strings.Fields(out), " ") != want || errs != "" || err != nil {
		t.Errorf("got\n%s%s%v\nwant\n%s", out, errs, err, want)
	}
}

func TestDecodeSaysOfASmallNumberThatItIsAKeyOfASequence(t *testing.T) {
	out, errs, err := runDecode(t, "", "7", "330678927360028672", "--json")
	if err != nil || !strings.Contains(out, "\"id\": \"7\",\n    \"time\": null,") ||
		!strings.Contains(out, `"time": "2026-07-01T12:00:00.000Z"`) {
		t.Errorf("got %s%v", out, err)
	}
	if strings.Count(errs, "a key of a sequence") != 1 || !strings.Contains(errs, "7 is below the first ID of layout "+
		"41/0/10/12, epoch 2024-01-01T00:00:00.000Z") {
		t.Errorf("standard error is %q", errs)
	}
	if out, _, _ = runDecode(t, "", "7"); !strings.Contains(out, "\n7   -     -           0       7  ") {
		t.Errorf("the table is\n%s", out)
	}
}

func TestDecodeReadsStandardInputAtItsPlaceAmongTheArguments(t *testing.T) {
	out, _, err := runDecode(t, " 2\n3\t4\n\n", "1", "-", "5")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(out) {
		ids = append(ids, strings.Fields(line)[0])
	}
	if got := strings.Join(ids, " "); got != "ID 1 2 3 4 5" {
		t.Errorf("got %q", got)
	}
}

func TestDecodeNamesWhatIsNoIDAndDecodesTheRest(t *testing.T) {
	out, errs, err := runDecode(t, "", "--layout", "javascript", "--json", "--", "1", "x1", "-5", "9007199254740992",
		"9223372036854775808", "2")
	if err == nil || err.Error() != "4 of 6 could not be decoded" {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{
		`"x1" is not an ID`, "-5 is negative", "9007199254740992 has 54 bits; an ID of layout 41/0/6/6 has at most 53",
		`"9223372036854775808" is not an ID: expected a number below 2^63`,
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q does not say %q", errs, want)
		}
	}
	if strings.Count(out, `"id"`) != 2 || !strings.Contains(out, `"id": "2"`) {
		t.Errorf("got %s", out)
	}
}

func TestDecodeReadsBase32AndAsksWhereDigitsCouldBeEither(t *testing.T) {
	out, errs, err := runDecode(t, "", "12345-67890123", "+330678927360028672", "1234567890123")
	for _, want := range []string{"1228503247364293699", "330678927360028672"} {
		if !strings.Contains(out, "\n"+want+" ") {
			t.Errorf("%s does not decode %s", out, want)
		}
	}
	const both = `"1234567890123" is ID 1234567890123 as a decimal number, and ID 1228503247364293699 as base32; ` +
		"write +1234567890123 or 12345-67890123"
	if err == nil || err.Error() != "1 of 3 could not be decoded" || !strings.Contains(errs, both) {
		t.Errorf("it says %q, %v", errs, err)
	}
	// In a layout of 53 bits every base32 ID begins with 00, so these can only be decimal.
	out, _, err = runDecode(t, "", "--json", "--layout", "javascript", "1234567890123")
	if err != nil || !strings.Contains(out, `"base32": "000013XRZP16B"`) {
		t.Errorf("printed %s, %v", out, err)
	}
}

func TestDecodeRefusesWhatItCannotKnow(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "no ID was given"},
		{[]string{"1", "--layout", "41/10/12"}, "41/10/12"},
		{[]string{"1", "--layout", "42/0/10/12"}, "64 bits"},
		{[]string{"1", "--epoch", "2020"}, `--epoch "2020"`},
		{[]string{"1", "--unit", "1us"}, "unit 1µs"},
		{[]string{"1", "--unit", "1s", "--database", "postgres://localhost/shop"}, "one or the other"},
		{[]string{"1", "--database", "postgres://localhost:port/shop"}, "port"},
	} {
		out, _, err := runDecode(t, "", test.args...)
		if err == nil || !strings.Contains(err.Error(), test.want) || out != "" {
			t.Errorf("decode %v: printed %q, error %v; want %q", test.args, out, err, test.want)
		}
	}
}

func TestDecodeOfNothingPrintsNoTable(t *testing.T) {
	if out, errs, err := runDecode(t, "", "abc"); out != "" ||
		!strings.Contains(errs, `"abc" is not an ID`) || err == nil {
		t.Errorf("printed %q and %q, error %v", out, errs, err)
	}
	if out, _, _ := runDecode(t, "", "abc", "--json"); out != "[]\n" {
		t.Errorf("JSON readers get %q", out)
	}
}
