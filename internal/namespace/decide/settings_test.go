package decide

import (
	"strings"
	"testing"
	"time"

	"pgflurry/generator"
	"pgflurry/internal/fault"
	"pgflurry/internal/namespace"
)

func TestWhatWasNotAskedForComesFromTheNamespaceThatIsThere(t *testing.T) {
	present := generator.DefaultLayout()
	present.TimestampBits, present.SequenceBits = 40, 13
	present.Epoch, present.Unit = present.Epoch.AddDate(1, 0, 0), 2*time.Millisecond
	got, err := Settings{}.WantedLayout(present)
	if err != nil || !got.Equal(present) {
		t.Errorf("nothing asked for: %s, %v", got.Full(), err)
	}
	got, err = Settings{Layout: "javascript"}.WantedLayout(present)
	if err != nil || got.Full() != "41/0/6/6, epoch 2025-01-01T00:00:00Z, unit 2ms" {
		t.Errorf("bits asked for: %s, %v", got.Full(), err)
	}
	got, err = Settings{Unit: time.Second}.WantedLayout(present)
	if err != nil || got.Full() != "40/0/10/13, epoch 2025-01-01T00:00:00Z, unit 1s" {
		t.Errorf("unit asked for: %s, %v", got.Full(), err)
	}
}

func TestForeignWorkersThatLeaveNoneAreNamedWithWhatIsNeeded(t *testing.T) {
	_, _, err := Settings{Foreign: &namespace.Ranges{{Highest: 1022}}}.Shares(generator.DefaultLayout())
	const want = "layout 41/0/10/12, without the foreign workers 0 to 1022, has 1 workers left, " +
		"and at least 2 are needed: one for a database, and one for a proxy"
	if err == nil || err.Error() != want || !strings.HasPrefix(fault.HintOf(err), "Name fewer foreign workers") {
		t.Errorf("%v, hint %q; want %s", err, fault.HintOf(err), want)
	}
}

func TestASmallLayoutKeepsFewWorkersForDatabases(t *testing.T) {
	for layout, want := range map[string]int{
		"41/0/1/12": 1, "41/0/2/12": 1, "41/0/4/12": 4, "javascript": 16, "41/0/10/12": 16, "40/0/16/7": 16,
	} {
		l, err := generator.ParseLayout(layout)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := (Settings{}).Shares(l); got != want || err != nil {
			t.Errorf("layout %s keeps %d, %v; want %d", layout, got, err, want)
		}
	}
}
