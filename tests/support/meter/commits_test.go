package meter

import (
	"strings"
	"testing"
)

// write makes a write with an outcome.
func write(c *Commits, id int64, how string) int64 {
	number := c.Begin()
	switch how {
	case "clean":
		c.Acknowledged(number, id, "db1 timeline 1", at(float64(number)), true)
	case "notice":
		c.Acknowledged(number, id, "db1 timeline 1", at(float64(number)), false)
	case "no answer":
		c.Unknown(number)
	case "refused":
		c.Refused(number)
	}
	return number
}

func TestInvariant4OnlyACleanAcknowledgementThatIsMissingIsALostCommit(t *testing.T) {
	c := &Commits{}
	write(c, 100, "clean")
	write(c, 101, "clean")
	write(c, 102, "notice")
	write(c, 103, "no answer")
	write(c, 104, "no answer")
	c.Told(write(c, 105, "no answer"), 105)
	write(c, 106, "refused")
	rows := []Row{{0, 100}, {4, 104}, {5, 105}}
	losses, untold, err := c.Check(rows, at(100))
	if err != nil || len(losses) != 2 || losses[0].Number != 1 || !losses[0].Clean || losses[1].Clean {
		t.Errorf("lost are %+v, %v; expected 1, and 2 with its notice", losses, err)
	}
	if len(untold) != 1 || untold[0].ID != 104 {
		t.Errorf("untold are %+v; expected the row of 104", untold)
	}
	if _, untold, err = c.Check(rows, at(101)); err != nil || len(untold) > 0 {
		t.Errorf("told again: %+v, %v", untold, err)
	}
	want := Counts{Begun: 7, Acknowledged: 2, Noticed: 1, Refused: 1, Lost: 1, NoticedLost: 1}
	if c.Counts() != want || want.Unknown() != 3 {
		t.Errorf("counted %+v; expected %+v", c.Counts(), want)
	}
}

func TestInvariant5ALostCommitIsToldOnceAndLaterLossesOfOldRowsAreFound(t *testing.T) {
	c := &Commits{}
	rows := make([]Row, 0, 4)
	for id := range int64(4) {
		rows = append(rows, Row{write(c, id+1, "clean"), id + 1})
	}
	check := func(rows []Row, all bool, want ...int64) {
		t.Helper()
		from := c.From(all)
		var needed []Row
		for _, row := range rows {
			if row.Number >= from {
				needed = append(needed, row)
			}
		}
		losses, _, err := c.Check(needed, at(100))
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, l := range losses {
			got = append(got, l.Number)
		}
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("lost are %v, expected %v", got, want)
		}
	}
	check(rows, false)
	check(rows[:3], false, 3) // the last Check still compared it
	check(rows[:3], false)
	check(rows[:3], false)
	check(rows[1:3], false)   // 0 is older than two Checks
	check(rows[1:3], true, 0) // only the whole comparison finds it
	check(rows[1:3], true)
}

func TestWhatIsAcknowledgedAfterTheTableWasReadIsNotLostYet(t *testing.T) {
	c := &Commits{}
	write(c, 1, "clean")
	late := write(c, 2, "clean") // at second 1
	losses, _, err := c.Check([]Row{{0, 1}}, at(0.5))
	if err != nil || len(losses) != 0 {
		t.Fatalf("lost are %v, %v", losses, err)
	}
	losses, _, err = c.Check([]Row{{0, 1}}, at(100))
	if err != nil || len(losses) != 1 || losses[0].Number != late {
		t.Errorf("lost are %v, %v; expected %d", losses, err, late)
	}
}

func TestARowWhoseWriteIsUnderWayIsNotUntoldForItsWriterIsToldYet(t *testing.T) {
	c := &Commits{}
	number := c.Begin()
	rows := []Row{{number, 5}}
	if _, untold, err := c.Check(rows, at(1)); err != nil || len(untold) != 0 {
		t.Errorf("untold are %v, %v", untold, err)
	}
	c.Told(number, 5)
	c.Acknowledged(number, 5, "db1", at(2), true)
	if _, untold, err := c.Check(rows, at(3)); err != nil || len(untold) != 0 {
		t.Errorf("untold are %v, %v", untold, err)
	}
}

func TestATableThatContradictsTheLedgerIsAnError(t *testing.T) {
	c := &Commits{}
	write(c, 7, "refused")
	if _, _, err := c.Check([]Row{{0, 7}}, at(100)); err == nil {
		t.Error("a row whose writer was refused is in the table, and nobody complains")
	}
	for complaint, rows := range map[string][]Row{
		"only 1 were begun": {{1, 5}}, "twice": {{0, 7}, {0, 7}}, "its writer got 7": {{0, 8}},
	} {
		c := &Commits{}
		write(c, 7, "clean")
		if _, _, err := c.Check(rows, at(100)); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%v: got %v, expected it to say %q", rows, err, complaint)
		}
	}
}
