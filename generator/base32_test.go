package generator

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func anyID(t *rapid.T) int64 { return rapid.Int64Range(0, math.MaxInt64).Draw(t, "id") }

// texts returns an ID in base32 without and with its check symbol.
func texts(t rapid.TB, id int64) (plain, checked string) {
	t.Helper()
	plain, err := Base32(id)
	if err != nil {
		t.Fatal(err)
	}
	if checked, err = CheckedBase32(id); err != nil || len(checked) != 14 || checked[:13] != plain {
		t.Fatalf("ID %d is %q, and with a check symbol %q (%v)", id, plain, checked, err)
	}
	return plain, checked
}

func TestBase32IsCrockfords(t *testing.T) {
	for id, want := range map[int64]string{
		0: "00000000000000", 1: "00000000000011", 32: "0000000000010*", 36: "0000000000014U", 1234: "000000000016JD",
		330678927360028672: "095PEQE000W00=", math.MaxInt64: "7ZZZZZZZZZZZZ5",
	} {
		if _, checked := texts(t, id); checked != want {
			t.Errorf("ID %d is %s; want %s", id, checked, want)
		}
	}
	for _, id := range []int64{-1, math.MinInt64} {
		for _, write := range []func(int64) (string, error){Base32, CheckedBase32} {
			if text, err := write(id); err == nil || text != "" {
				t.Errorf("ID %d is %q, %v", id, text, err)
			}
		}
	}
}

func TestBase32IsReadAsItWasWrittenAndAsPeopleWriteIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := anyID(t)
		plain, checked := texts(t, id)
		place := rapid.IntRange(1, 12).Draw(t, "place of a hyphen")
		for _, text := range []string{
			plain, checked, strings.ToLower(plain), strings.ToLower(checked),
			strings.NewReplacer("0", "O", "1", "I").Replace(plain),
			strings.NewReplacer("0", "o", "1", "l").Replace(checked),
			plain[:place] + "-" + plain[place:], checked[:place] + "--" + checked[place:13] + "-" + checked[13:],
		} {
			if got, err := FromBase32(text); got != id || err != nil {
				t.Fatalf("%q is read as %d, %v; want %d", text, got, err, id)
			}
		}
	})
}

func TestTextsInBase32SortAsIDsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, other := anyID(t), anyID(t)
		plainOne, checkedOne := texts(t, one)
		plainOther, checkedOther := texts(t, other)
		if one != other && ((one < other) != (plainOne < plainOther) || (one < other) != (checkedOne < checkedOther)) {
			t.Fatalf("IDs %d and %d do not sort as %s and %s", one, other, checkedOne, checkedOther)
		}
	})
}

// mistyped calls f with each text that differs from text by one wrong symbol, or by two neighbours that are swapped.
func mistyped(text string, f func(wrong string)) {
	for i, have := range text {
		for _, symbol := range base32Symbols {
			if symbol != have {
				f(text[:i] + string(symbol) + text[i+1:])
			}
		}
		if i > 0 && text[i] != text[i-1] {
			f(text[:i-1] + text[i:i+1] + text[i-1:i] + text[i+1:])
		}
	}
}

// spread returns IDs over the whole range.
func spread(f func(id int64)) {
	for i := range int64(200) {
		f(i * 46_116_860_184_273_879)
	}
}

func TestWithACheckSymbolNoWrongCharacterAndNoSwapOfNeighboursIsRead(t *testing.T) {
	spread(func(id int64) {
		_, checked := texts(t, id)
		mistyped(checked, func(wrong string) {
			if id, err := FromBase32(wrong); err == nil {
				t.Errorf("%s for %s is read as %d", wrong, checked, id)
			}
		})
	})
}

// TestWithoutACheckSymbolMostTypingErrorsAreRead measures the share that docs/json.md quotes.
func TestWithoutACheckSymbolMostTypingErrorsAreRead(t *testing.T) {
	tried, read := 0, 0
	spread(func(id int64) {
		plain, _ := texts(t, id)
		mistyped(plain, func(wrong string) {
			if strings.ContainsAny(wrong, "*~$=U") {
				return // nobody types these by accident
			}
			tried++
			if _, err := FromBase32(wrong); err == nil {
				read++
			}
		})
	})
	if share := 100 * read / tried; share != 94 {
		t.Errorf("%d of %d typing errors are read, %d in a hundred; docs/json.md says 94", read, tried, share)
	}
}

func TestWhatIsNotBase32IsRefusedWithItsReason(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "it has 0 characters; expected 13, or 14 with a check symbol",
		"000000000000":       "it has 12 characters",
		"000000000000000":    "it has 15 characters",
		"000000000000u":      "it has the character 'u'; base32 has digits, and letters without I, L, O and U",
		"000000*000000":      "it has the character '*'",
		"000000 000000":      "it has the character ' '",
		"000000000000é":      "it has the character 'é'",
		"000000000000ı":      "it has the character 'ı'", // its upper case is I
		"-000000000000":      "it has the character '-'",
		"000000000000-":      "it has the character '-'",
		"8000000000000":      "it has more than 63 bits; its first character is 0 to 7",
		"ZZZZZZZZZZZZZ":      "it has more than 63 bits",
		"00000000000010":     "its check symbol is wrong: a character is wrong, or two are swapped",
		"0000000000001-":     "its check symbol is wrong",
		"0000000000001\x00":  "its check symbol is wrong",
		"000000000000\xff":   "it has the character '�'",
		"330678927360028672": "it has 18 characters",
	} {
		if id, err := FromBase32(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gives %d, %v; want %q", text, id, err, want)
		}
	}
}

func FuzzWhatIsReadAsBase32IsWrittenTheSameOrRefused(f *testing.F) {
	for _, text := range []string{"095PEQE000W00", "095peqe000wo0=", "0-9", "-", "8000000000000", "00000-00000014u"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, err := FromBase32(text)
		if err != nil {
			return
		}
		plain, checked := texts(t, id)
		symbols := strings.NewReplacer("-", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(text))
		if symbols != plain && symbols != checked {
			t.Errorf("%q is read as %d, which is %s", text, id, checked)
		}
	})
}
