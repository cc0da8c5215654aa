package namespace

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pgflurry/generator"
	"pgflurry/internal/fault"
)

const (
	space  = "0f8fad5b-d9cb-469f-a165-70867728950e"
	begin  = "pgf1_" + space + "_"
	sample = begin + "41-5-5-12_2024-01-01T00:00:00Z_1ms_regions_8_96-97,99_c1c7b847"
)

func datacenters(t rapid.TB) generator.Layout {
	layout, err := generator.ParseLayout("datacenter")
	if err != nil {
		t.Fatal(err)
	}
	return layout
}

// Operators keep the text in notes and scripts, so it must never change.
func TestTheTextOfAFingerprintIsThatOfEachVersionBefore(t *testing.T) {
	f := Fingerprint{
		ID: space, Layout: datacenters(t), Regions: true, DatabaseWorkers: 8, Foreign: Ranges{{96, 97}, {99, 99}},
	}
	if f.String() != sample {
		t.Errorf("it is %s; expected %s", f, sample)
	}
	if back, err := ParseFingerprint(sample); err != nil || back.String() != sample || !back.Regions ||
		back.DatabaseWorkers != 8 || !slices.Equal(back.Foreign, f.Foreign) {
		t.Errorf("it is read as %+v, %v", back, err)
	}
}

// drawn generates any fingerprint that a namespace can have.
func drawn(t *rapid.T) Fingerprint {
	layout := generator.Layout{
		Epoch: time.UnixMilli(rapid.Int64Range(0, 253_402_214_400_000).Draw(t, "epoch")).UTC(),
		Unit:  time.Duration(rapid.IntRange(1, 1000).Draw(t, "unit")) * time.Millisecond,
	}
	layout.WorkerBits = rapid.IntRange(1, 16).Draw(t, "worker")
	layout.DatacenterBits = rapid.IntRange(0, min(15, 16-layout.WorkerBits)).Draw(t, "datacenter")
	layout.SequenceBits = rapid.IntRange(1, 18).Draw(t, "sequence")
	rest := 63 - layout.WorkerBits - layout.DatacenterBits - layout.SequenceBits
	layout.TimestampBits = rapid.IntRange(28, min(43, rest)).Draw(t, "timestamp")
	if err := layout.Validate(); err != nil {
		t.Fatal(err)
	}
	foreign, _ := anyRanges(t, "foreign")
	return Fingerprint{
		DatabaseWorkers: rapid.IntRange(1, 1<<16).Draw(t, "functions"), Foreign: foreign,
		ID: rapid.StringMatching(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`).Draw(t, "id"), Layout: layout,
		Regions: layout.DatacenterBits > 0 && rapid.Bool().Draw(t, "regions"),
	}
}

func TestAFingerprintOfAnyLayoutIsReadAsItWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawn(t)
		back, err := ParseFingerprint(f.String())
		if err != nil || back.ID != f.ID || !back.Layout.Equal(f.Layout) || back.Regions != f.Regions ||
			back.DatabaseWorkers != f.DatabaseWorkers || !slices.Equal(back.Foreign, f.Foreign) {
			t.Fatalf("%+v is written %s and read %+v, %v", f, f, back, err)
		}
	})
}

func TestNoTypingErrorInAFingerprintIsOverlooked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawn(t).String()
		at := rapid.IntRange(0, len(text)-2).Draw(t, "place")
		var wrong string
		switch rapid.SampledFrom([]string{"wrong", "missing", "twice", "swapped"}).Draw(t, "mistake") {
		case "wrong":
			wrong = text[:at] + rapid.StringMatching(`[0-9a-zA-Z:_.-]`).Draw(t, "other") + text[at+1:]
		case "missing":
			wrong = text[:at] + text[at+1:]
		case "twice":
			wrong = text[:at] + text[at:at+1] + text[at:]
		case "swapped":
			wrong = text[:at] + text[at+1:at+2] + text[at:at+1] + text[at+2:]
		}
		if wrong == text {
			return
		}
		if f, err := ParseFingerprint(wrong); err == nil {
			t.Fatalf("%s is taken for %s, of %+v", wrong, text, f)
		}
	})
}

// sealed adds the right check sum to a text.
func sealed(text string) string { return text + "_" + checkSum(text) }

func TestAFingerprintThatCannotBeReadSaysWhichPartAndWhatWasExpected(t *testing.T) {
	for text, says := range map[string]string{
		"":                                "does not begin with pgf1_",
		"postgres://app:secret@host/shop": "does not begin with pgf1_",
		strings.Replace(sample, "pgf1", "pgf2", 1):                             "version pgf2, and this program",
		strings.TrimSuffix(sample, "_c1c7b847"):                                "has 8 parts, and not 9",
		strings.ToUpper(sample[:5]) + sample[5:]:                               "does not begin with pgf1_",
		strings.Replace(sample, "41-5-5-12", "41-5-6-11", 1):                   "check sum is \"c1c7b847\"",
		sealed("pgf1_here_41-5-5-12_2024-01-01T00:00:00Z_1ms_regions_8_none"):  `"here" is not a UUID`,
		sealed(begin + "41-5-5_2024-01-01T00:00:00Z_1ms_regions_8_none"):       "neither four numbers",
		sealed(begin + "41-5-5-22_2024-01-01T00:00:00Z_1ms_regions_8_none"):    "an ID has 63",
		sealed(begin + "41-5-5-12_yesterday_1ms_regions_8_none"):               `"yesterday" is not an instant`,
		sealed(begin + "41-5-5-12_2024-01-01T00:00:00Z_soon_regions_8_none"):   `"soon" is not a length of time`,
		sealed(begin + "41-5-5-12_2024-01-01T00:00:00Z_2s_regions_8_none"):     "unit 2s is not",
		sealed(begin + "41-0-10-12_2024-01-01T00:00:00Z_1ms_regions_8_none"):   "no datacenter bits",
		sealed(begin + "41-5-5-12_2024-01-01T01:00:00+01:00_1ms_whole_8_none"): "is written pgf1_",
		sealed(begin + "datacenter_2024-01-01T00:00:00Z_1ms_regions_8_none"):   "is written pgf1_",
		sealed(begin + "41-5-5-12_2024-01-01T00:00:00Z_1ms_regions_0_none"):    `"0" is not a number of workers`,
		sealed(begin + "41-5-5-12_2024-01-01T00:00:00Z_1ms_regions_8_few"):     "expected numbers and ranges",
		sealed(begin + "41-5-5-12_2024-01-01T00:00:00Z_1ms_regions_8_2,1"):     "is written pgf1_",
	} {
		_, err := ParseFingerprint(text)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v; expected %q", text, err, says)
			continue
		}
		if fault.KindOf(err) != fault.Usage || !strings.Contains(fault.HintOf(err), "namespace show") {
			t.Errorf("%q: kind %v, hint %q", text, fault.KindOf(err), fault.HintOf(err))
		}
		if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q is repeated: %v", text, err)
		}
	}
}

func FuzzParseFingerprint(f *testing.F) {
	f.Add(sample)
	f.Add("pgf1_")
	f.Add("pgf1______00000000")
	f.Add(sealed(begin + "28-15-1-1_1970-01-01T00:00:00.001Z_1s_whole_1_none"))
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{text, sealed(text)} {
			if print, err := ParseFingerprint(text); err == nil && print.String() != text {
				t.Errorf("%q is read as %s", text, print)
			}
		}
	})
}
