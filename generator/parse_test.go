package generator

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func javascript(t testing.TB) Layout {
	t.Helper()
	layout, err := ParseLayout("javascript")
	if err != nil {
		t.Fatal(err)
	}
	return layout
}

func TestAnIDIsReadFromDigitsAndFromBase32(t *testing.T) {
	standard, narrow := DefaultLayout(), javascript(t)
	for text, want := range map[string]int64{
		"330678927360028672": 330678927360028672,
		"095PEQE000W00":      330678927360028672,
		"095peqe000w00=":     330678927360028672,
		"0":                  0, "5": 5, "+12": 12, "0000000000007": 7, // 7 in both readings
		"0000000000000000012":  12, // nineteen digits cannot be base32
		"0-000000000012":       34, // a hyphen cannot be in a decimal number
		"+0000000000012":       12,
		"9999999999999":        9999999999999, // base32 begins with 0 to 7
		"12345678901235":       12345678901235,
		"9223372036854775807":  1<<63 - 1,
		"7ZZZ-ZZZZ-ZZZZZ":      1<<63 - 1,
		"+9223372036854775807": 1<<63 - 1,
	} {
		if id, err := standard.ParseID(text); id != want || err != nil {
			t.Errorf("%s is read as %d, %v; want %d", text, id, err, want)
		}
	}
	// Its IDs have 53 bits, so their base32 begins with 00, and 13 digits are not ambiguous.
	if id, err := narrow.ParseID("1234567890123"); id != 1234567890123 || err != nil {
		t.Errorf("1234567890123 is read as %d, %v", id, err)
	}
}

func TestDigitsThatAreAnIDBothWaysAreRefusedUntilTheySayWhich(t *testing.T) {
	layout := DefaultLayout()
	for text, both := range map[string][2]string{
		"0000000000012":  {"+0000000000012", "00000-00000012"},
		"1234567890123":  {"+1234567890123", "12345-67890123"},
		"00000000000011": {"+00000000000011", "00000-000000011"}, // the last digit is the right check symbol
	} {
		_, err := layout.ParseID(text)
		if err == nil || !strings.Contains(err.Error(), "write "+both[0]+" or "+both[1]) {
			t.Errorf("%s: error %v", text, err)
		}
		decimal, err := layout.ParseID(both[0])
		if want, _ := strconv.ParseInt(text, 10, 64); decimal != want || err != nil {
			t.Errorf("%s is read as %d, %v", both[0], decimal, err)
		}
		base32, err := layout.ParseID(both[1])
		if want, _ := FromBase32(text); base32 != want || err != nil || base32 == decimal {
			t.Errorf("%s is read as %d, %v", both[1], base32, err)
		}
	}
}

func TestWhatIsNoIDInEitherFormIsRefusedWithItsReason(t *testing.T) {
	for text, want := range map[string]string{
		"":                    `"" is not an ID: it is no whole decimal number, and as base32 it has 0 characters`,
		"x1":                  `"x1" is not an ID: it is no whole decimal number, and as base32 it has 2 characters`,
		"1,000":               `it is no whole decimal number`,
		"-5":                  "-5 is negative; an ID is not",
		"-1234567890123":      "-1234567890123 is negative",
		"9007199254740992":    "9007199254740992 has 54 bits; an ID of layout 41/0/6/6 has at most 53",
		"9223372036854775808": `"9223372036854775808" is not an ID: expected a number below 2^63`,
		"00-80000000000":      "as base32 9007199254740992 has 54 bits; an ID of layout",
		"008000000000U":       "as base32 it has the character 'U'",
	} {
		if id, err := javascript(t).ParseID(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %d, %v; want %q", text, id, err, want)
		}
	}
}

func TestEachIDIsReadFromEachOfItsForms(t *testing.T) {
	layouts := []Layout{DefaultLayout(), javascript(t)}
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom(layouts).Draw(t, "layout")
		id := anyID(t) >> (idBits - layout.Bits())
		plain, checked := texts(t, id)
		for _, text := range []string{strconv.FormatInt(id, 10), plain, checked} {
			// An ambiguous text is refused, and never read as another ID.
			if got, err := layout.ParseID(text); err == nil && got != id || err != nil &&
				!strings.Contains(err.Error(), "; write +") {
				t.Fatalf("%s is read as %d, %v; want %d", text, got, err, id)
			}
		}
	})
}
