package doctor

import (
	"strings"
	"testing"
	"time"
)

// sound are the facts of a server on which nothing is wrong.
func sound() Facts {
	return Facts{
		Number: 170000, Version: "17.0", TLS: true, Timeline: Shown{Value: "00000001"}, System: Shown{Value: "7"},
		Statistics: Shown{Value: "then"}, Started: time.Unix(1, 0),
		Settings: map[string]string{
			"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "max_connections": "100",
			"synchronous_standby_names": "standby",
		},
	}
}

func verdict(t *testing.T, checks []Check, name string) Verdict {
	t.Helper()
	for _, c := range checks {
		if c.Name == name {
			return c.Verdict
		}
	}
	t.Fatalf("there is no check %q", name)
	return ""
}

func TestInvariant3WhatAServerHidesIsNeverOK(t *testing.T) {
	for name, hide := range map[string]func(*Facts){
		"WAL timeline":      func(f *Facts) { f.Timeline = Shown{Why: "permission denied"} },
		"system identifier": func(f *Facts) { f.System = Shown{Why: "permission denied"} },
		"durability":        func(f *Facts) { delete(f.Settings, "fsync") },
		"connections":       func(f *Facts) { delete(f.Settings, "max_connections") },
		"replication":       func(f *Facts) { delete(f.Settings, "synchronous_standby_names") },
	} {
		f := sound()
		if got := verdict(t, Judge(f), name); got != OK {
			t.Errorf("%s of a sound server: %s", name, got)
		}
		hide(&f)
		if got := verdict(t, Judge(f), name); got == OK {
			t.Errorf("%s is ok although the server hides it", name)
		}
	}
}

func TestAProviderIsKnownByItsSigns(t *testing.T) {
	for sign, want := range map[string]string{
		"aurora_version()": "Amazon Aurora", "rdsadmin": "Amazon RDS", "cloudsqlsuperuser": "Cloud SQL",
		"alloydb.": "AlloyDB", "azure.": "Azure Database for PostgreSQL", "neon_superuser": "Neon",
		"supabase_admin": "Supabase", "cnpg": "CloudNativePG", "plpgsql.": "",
	} {
		// Aurora shows the signs of RDS as well
		f := Facts{Signs: []string{"rds.", sign}}
		if sign != "aurora_version()" && sign != "rdsadmin" {
			f.Signs = []string{sign}
		}
		if got := Provider(f); got != want {
			t.Errorf("a server with %v is of %q, expected %q", f.Signs, got, want)
		}
	}
}

func TestWhatHappenedIsDerivedFromWhatBothLooksSaw(t *testing.T) {
	later := func(f *Facts) { f.Started = f.Started.Add(time.Hour) }
	fresh := func(f *Facts) { f.Statistics.Value = "now" }
	hidden := func(f *Facts) { f.Statistics = Shown{Why: "no"} }
	for _, c := range []struct {
		name   string
		change []func(*Facts)
		want   Event
	}{
		{"nothing changed", nil, Nothing},
		{"a start that kept the statistics", []func(*Facts){later}, Clean},
		{"a start that lost the statistics", []func(*Facts){later, fresh}, Crash},
		{"lost statistics, and the postmaster of before", []func(*Facts){fresh}, Crash},
		{"a new timeline", []func(*Facts){func(f *Facts) { f.Timeline.Value = "00000002" }}, Crash},
		{"another identifier", []func(*Facts){func(f *Facts) { f.System.Value = "8" }}, Another},
		{"a start, and no statistics", []func(*Facts){later, hidden}, Restart},
	} {
		now := sound()
		for _, change := range c.change {
			change(&now)
		}
		if got := happened(sound(), now); got != c.want {
			t.Errorf("%s: %s, expected %s", c.name, got, c.want)
		}
	}
}

func TestATimelineThatFallsAndAMarkerThatIsGoneFail(t *testing.T) {
	before := Before{Facts: sound(), Marker: 5}
	before.Facts.Timeline.Value = "00000003"
	checks := Compare(before, sound(), Found{Gone: true})
	for _, name := range []string{"WAL timeline after", "unlogged sequences after"} {
		if got := verdict(t, checks, name); got != Fails {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := verdict(t, Promises(sound(), append(Judge(sound()), checks...)),
		"promise: no ID twice after a restart or crash"); got != Fails {
		t.Errorf("the promise: %s", got)
	}
}

func TestFsyncOffFailsUnlessTheProvidersStorageKeepsWhatWasAcknowledged(t *testing.T) {
	f := sound()
	f.Settings["fsync"] = "off"
	if got := verdict(t, Judge(f), "durability"); got != Fails {
		t.Errorf("without a provider: %s", got)
	}
	f.Signs = []string{"neon."}
	if got := verdict(t, Judge(f), "durability"); got != OK {
		t.Errorf("on Neon: %s", got)
	}
}

func TestALineForAnIssueNamesNothingThatIsPrivate(t *testing.T) {
	f := sound()
	f.Role, f.Database, f.Address = "secret_role", "secret_database", "192.0.2.77"
	f.Settings["synchronous_standby_names"] = "secret_host"
	checks := append(Judge(f), Compare(Before{Facts: f, Marker: 1}, f, Found{Kept: true})...)
	line := Line(f, checks, true, "v1")
	for _, private := range []string{"secret", "192.0.2.77", f.System.Value + ";"} {
		if strings.Contains(line, private) {
			t.Errorf("the line has %q: %s", private, line)
		}
	}
}
