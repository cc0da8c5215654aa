package config

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"time"

	"pgflurry/internal/account"
	"pgflurry/internal/connect"
)

// Given is what rows write into. Most write a value into Settings. The others write a text, which Parse turns into a
// value of Settings.
type Given struct {
	Settings
	// Listen, AdminListen, Upstream and LeaseDatabase are the texts of addresses and of a connection string.
	Listen, AdminListen, Upstream, LeaseDatabase string
	// File is the name of the configuration file.
	File string
	// CheckOnly asks for the settings, and for nothing else.
	CheckOnly bool

	datacenter, listenMode, logLevel string
}

// Parse returns the values. It reports all errors at once, and reads all files that the settings name.
func (g *Given) Parse() (Settings, error) {
	s := g.Settings
	var noListen, noUpstream, noAdmin, noLease, noKeys, noNumber, noMode, noLevel error
	if s.Listener == nil {
		s.At, noListen = ParseAddress("listen", g.Listen)
	}
	switch {
	case g.AdminListen == "":
	case s.Admin.Listener == nil && isFolder(g.AdminListen): // ParseAddress would name PostgreSQL's socket in it
		noAdmin = wrong("admin-listen", "--admin-listen %s is a directory; "+
			"expected HOST:PORT or the path of a Unix socket", g.AdminListen)
	default:
		s.Admin.At, noAdmin = ParseAddress("admin-listen", g.AdminListen)
	}
	s.Upstream = g.Upstream
	s.Hosts, noUpstream = ParseUpstream(g.Upstream)
	s.Lease, noLease = ParseLease(g.LeaseDatabase)
	contradictions := errors.Join(g.withoutEffect(), s.complete())
	s.Keys, noKeys = s.TLS.Read()
	s.Datacenter, noNumber = Number("datacenter", g.datacenter, "any")
	if g.listenMode != "" {
		s.ListenMode, noMode = parseMode("listen-mode", g.listenMode)
	}
	if g.logLevel != "" {
		noLevel = s.LogLevel.UnmarshalText([]byte(g.logLevel))
	}
	if noLevel != nil {
		noLevel = wrong("log-level", "--log-level is %s; expected debug, info, warn or error",
			connect.Shown(g.logLevel))
	}
	var noAccounts error
	s.Accounts, noAccounts = s.IDDatabase.readFile()
	return s, errors.Join(noListen, noAdmin, noUpstream, noLease, contradictions, noKeys, noAccounts,
		noNumber, noMode, noLevel, CheckLogFormat(s.LogFormat))
}

// withoutEffect refuses settings without those that they need.
func (g *Given) withoutEffect() error {
	if g.IDDatabase.Name != "" {
		return nil
	}
	var alone, flags []string
	for _, r := range Rows("") {
		if to := reflect.ValueOf(r.To(g)).Elem(); r.Needs != "" && !to.IsZero() && to.Interface() != r.Default {
			alone, flags = append(alone, r.Name), append(flags, "--"+r.Name)
		}
	}
	switch len(alone) {
	case 0:
		return nil
	case 1:
		return of(append(alone, "id-database"),
			fmt.Errorf("%s has no effect without --id-database; give both, or neither", flags[0]))
	}
	return of(append(alone, "id-database"),
		fmt.Errorf("%s have no effect without --id-database; give it too, or none of them", strings.Join(flags, ", ")))
}

// readFile reads the file of accounts; nil: there is none.
func (d *IDDatabase) readFile() (*account.List, error) {
	if d.AuthFile == "" || !d.Accounts() {
		return nil, nil
	}
	list, err := account.NewFile(d.AuthFile).Read(context.Background(), time.Time{})
	return list, UnreadAccounts(err)
}

// UnreadAccounts makes err one of the file of accounts.
func UnreadAccounts(err error) error {
	if err == nil {
		return nil
	}
	return wrong("id-auth-file", "--id-auth-file: %w", err)
}

// Number parses the number of a flag. An empty text gives nil, which means otherwise.
func Number(flag, text, otherwise string) (*int, error) {
	if text == "" {
		return nil, nil
	}
	number, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return nil, wrong(flag, "--%s is %s; expected a number, such as 3, or nothing for %s",
			flag, connect.Shown(text), otherwise)
	}
	given := int(number)
	return &given, nil
}

// parseMode parses the mode of a file.
func parseMode(flag, text string) (fs.FileMode, error) {
	mode, err := strconv.ParseUint(text, 8, 16)
	if err != nil || mode == 0 || mode > 0o777 {
		return 0, wrong(flag, "--%s is %s; expected a mode in octal, such as 0777 or 0770",
			flag, connect.Shown(text))
	}
	return fs.FileMode(mode), nil
}

// CheckLogFormat refuses a --log-format that is neither text nor json. Empty means text.
func CheckLogFormat(format string) error {
	if format == "" || format == "text" || format == "json" {
		return nil
	}
	return wrong("log-format", "--log-format is %s; expected text or json", connect.Shown(format))
}
