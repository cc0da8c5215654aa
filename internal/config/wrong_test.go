package config

import (
	"errors"
	"regexp"
	"slices"
	"testing"
)

// The program adds to an error where its settings are from. So each of them is in the list and in the text.
func TestAnErrorCarriesTheSettingsThatItsTextNames(t *testing.T) {
	g := Given{
		Settings: Settings{
			Databases: []string{""}, Window: 1, DrainTimeout: -1, Limits: Limits{MaxLogins: -1, LoginTimeout: 1},
			TLS: TLS{
				Client: ClientAllow, ClientCert: "/none", Auth: AuthPassword, ClientCA: "/none",
				Upstream: "verify-full", UpstreamKey: "/none",
			},
			IDDatabase: IDDatabase{
				Name: "postgres", Auth: IDAuthTrust, AuthFile: "/none", Segments: "x", MaxSessions: -1,
			},
			LogFormat: "xml",
		},
		Listen: ":1", AdminListen: "x", datacenter: "x", listenMode: "x", logLevel: "x",
	}
	_, err := g.Parse()
	var rows []string
	for _, r := range Rows("") {
		rows = append(rows, r.Name)
	}
	all := Each(err)
	if len(all) < 20 {
		t.Errorf("only %d things are wrong: %v", len(all), err)
	}
	for _, one := range all {
		var about *Wrong
		if !errors.As(one, &about) || len(about.Settings) == 0 {
			t.Errorf("an error carries no setting: %v", one)
			continue
		}
		for _, name := range about.Settings {
			if !slices.Contains(rows, name) || !regexp.MustCompile(`--`+name+`\b`).MatchString(one.Error()) {
				t.Errorf("an error about --%s does not name it: %v", name, one)
			}
		}
	}
}

func TestEachRowHasAHelpAndNeedsAnotherRow(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range Rows("") {
		if r.Name == "" || r.Help == "" || seen[r.Name] {
			t.Errorf("a row without name or help, or a second one: %+v", r)
		}
		seen[r.Name] = true
		if r.Group != "" && !slices.Contains(Groups, r.Group) {
			t.Errorf("%s is in a group that the help does not have: %s", r.Name, r.Group)
		}
	}
	for _, r := range Rows("") {
		if r.Needs != "" && !seen[r.Needs] {
			t.Errorf("%s needs %s, which is no row", r.Name, r.Needs)
		}
	}
}
