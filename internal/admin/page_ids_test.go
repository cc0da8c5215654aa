package admin

import (
	"strings"
	"testing"
	"time"

	"pgflurry/internal/report"
)

func TestThePageTellsTheIDDatabaseApartWhereThereIsOne(t *testing.T) {
	s := healthy()
	_, page := get(t, &scripted{state: s}, "/")
	has(t, page, `<section id="part-ids" aria-labelledby="ids-title" hidden>`, "418,224,907 IDs given since")
	s.IDDatabase = idDatabase()
	_, page = get(t, &scripted{state: s}, "/fragment")
	has(t, page, `ID database <small>pgflurry</small>`,
		"8,222 of 10,000 · 1 in a failed transaction · 8,190 idle · 31 in a transaction · 4 logging in",
		"12,408,113 IDs, 30,551 numbers of tags", "0 without IDs · 17 not supported · 4 other",
		"40,118 ok · 3 after too many wrong passwords · 9 given up by the client · 12 with a wrong password · ",
		"41 in pgflurry.client, read 3 s ago", "430,633,020 IDs given since", "172 sessions of 400",
		"8,222 sessions in the ID database")
	s.IDDatabase.Refused["no_ids"] = 7
	_, page = get(t, &scripted{state: s}, "/fragment")
	has(t, page, "without IDs in the ID database: 7")
	s.IDDatabase.Accounts = report.Accounts{Needed: true, From: "/etc/clients", Problem: "<line> 1"}
	_, page = get(t, &scripted{state: s}, "/")
	has(t, page, "not read yet, from /etc/clients", "&lt;line&gt; 1")
	s.IDDatabase.Accounts = report.Accounts{}
	_, page = get(t, &scripted{state: s}, "/")
	has(t, page, "none needed: whoever connects may log in")
}

func TestADrainCountsTheSessionsOfTheIDDatabase(t *testing.T) {
	s := healthy()
	s.Draining, s.Sessions.Open, s.IDDatabase = true, map[string]int{"idle": 1}, idDatabase()
	if said := Sentence(s); !strings.HasPrefix(said, "Draining, 8,223 sessions left. ") {
		t.Errorf("the sentence is %q", said)
	}
}

func TestAccountsAreWarnedOfWhenTheyAreOldOrNobodyCanLogIn(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*report.Accounts)
		says   string // empty: no warning
		severe bool
		runs   string
	}{
		"read a moment ago":      {func(a *report.Accounts) { a.Problem = "" }, "", false, ""},
		"one reading has failed": {func(*report.Accounts) {}, "", false, ""},
		"old": {
			func(a *report.Accounts) { a.Read = now.Add(-2 * time.Minute) },
			"Accounts of the ID database were read 2 min ago: logins go on with those.", false,
			"pgflurry clients list --database URL",
		},
		"over the age": {
			func(a *report.Accounts) { a.Read = now.Add(-2 * time.Hour) },
			"Accounts of the ID database were read 2 h ago, over 60 min: nobody can log in there.", true,
			"pgflurry clients list --database URL",
		},
		"never read": {
			func(a *report.Accounts) { a.Read, a.From, a.File = time.Time{}, "/etc/it's", true },
			"Accounts of the ID database were not read yet: nobody can log in there.", true, `ls -l '/etc/it'\''s'`,
		},
		"not needed": {func(a *report.Accounts) { *a = report.Accounts{Problem: "x"} }, "", false, ""},
	} {
		s := healthy()
		s.IDDatabase = idDatabase()
		s.IDDatabase.Accounts.Problem = "the connection ended: EOF"
		c.change(&s.IDDatabase.Accounts)
		warnings := Warnings(s)
		switch {
		case c.says == "" && len(warnings) == 0:
		case len(warnings) != 1 || warnings[0].What != c.says || warnings[0].Severe != c.severe ||
			warnings[0].Commands[0] != c.runs:
			t.Errorf("%s: %+v; expected %q", name, warnings, c.says)
		}
	}
}
