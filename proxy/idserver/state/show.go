package state

import (
	"strings"

	"pgflurry/proxy/idserver/command"
)

// showColumns are the columns of a SHOW.
func (s *Session) showColumns(c command.Show) ([]command.Column, error) {
	names, _, err := s.show(c)
	if err != nil {
		return nil, err
	}
	columns := make([]command.Column, len(names))
	for i, name := range names {
		columns[i] = command.Column{Label: name, Type: command.Text, Width: -1}
	}
	return columns, nil
}

// show returns the columns and the rows of a SHOW: all settings, a table of the console, or a setting.
func (s *Session) show(c command.Show) (columns []string, rows [][]string, err error) {
	if c.All {
		return []string{"name", "setting", "description"}, s.Parameters.all(), nil
	}
	if columns, rows, known := s.database.Console.Show(c.Name, s.Parameters.user); known {
		return columns, rows, nil
	}
	value, known := s.Parameters.get(strings.ToLower(c.Name))
	if !known {
		return nil, nil, noSetting(c.Name)
	}
	return []string{s.Parameters.spelling(c.Name)}, [][]string{{value}}, nil
}

// environment is what a SELECT may ask of the session.
type environment struct{ s *Session }

func (e environment) Version() string {
	version, _ := e.s.Parameters.get("server_version")
	return "PostgreSQL " + version + ", of which pgflurry answers for IDs alone"
}

func (e environment) Database() string { return e.s.database.Name }
func (e environment) User() string     { return e.s.Parameters.user }
func (e environment) PID() int32       { return e.s.pid }

// Now is the time of the first call in the transaction, so that it stands still there.
func (e environment) Now() int64 {
	t := &e.s.Transaction
	if t.now == 0 {
		t.now = e.s.database.Now()
	}
	return t.now
}

func (e environment) Setting(name string) (string, bool) {
	return e.s.Parameters.get(strings.ToLower(name))
}

func (e environment) Set(name string, value *string, local bool) (string, error) {
	if value == nil {
		lower, err := free(name)
		if err != nil {
			return "", err
		}
		err = e.s.Parameters.set(lower, nil, local)
		now, _ := e.s.Parameters.get(lower)
		return now, err
	}
	lower, accepted, err := e.s.Parameters.accept(name, []string{*value})
	if err != nil {
		return "", err
	}
	return accepted, e.s.Parameters.set(lower, &accepted, local)
}
