package idserver

import (
	"maps"
	"slices"
	"strings"

	"pgflurry/idserver/command"
)

// Answers of SHOW: tables of the console, and settings.

// consoleTable returns the function that makes a table of the console; nil: there is no such table.
func (s *session) consoleTable(name string) func() Table {
	switch word := strings.ToUpper(name); word {
	case "HELP":
		return s.help
	case "SESSIONS":
		return s.sessionsTable
	default:
		if table := s.server.tables[word]; table != nil {
			return table.Fresh
		}
		return nil
	}
}

// help lists what this database answers.
func (s *session) help() Table {
	t := Table{Columns: []string{"statement", "answer"}, Rows: [][]string{
		{"SELECT next_snowflake()", "one ID"},
		{"SELECT next_snowflake() FROM generate_series(1, n)", "n IDs; n is 1 to 10000"},
		{"SELECT * FROM next_snowflakes(n)", "n IDs; n is 1 to 10000"},
		{"SELECT next_segment('tag')", "the next number of a tag"},
		{"SELECT * FROM next_segments('tag', n)", "n numbers of a tag; n is 1 to 10000"},
		{"SHOW SESSIONS", "who is logged in to this database"},
	}}
	for _, word := range slices.Sorted(maps.Keys(s.server.settings.Console)) {
		t.Rows = append(t.Rows, []string{"SHOW " + word, s.server.settings.Console[word].Tells})
	}
	t.Rows = append(t.Rows,
		[]string{"BEGIN, COMMIT, ROLLBACK, SAVEPOINT", "transactions, in which nothing is at stake but settings"},
		[]string{"SET, RESET, SHOW, DISCARD", "settings, which nothing here depends on"},
		[]string{"PREPARE, EXECUTE, DEALLOCATE", "prepared statements"},
		[]string{"DECLARE, FETCH, MOVE, CLOSE", "cursors"},
		[]string{"SELECT 1, version(), current_user", "constants, and what drivers ask when they connect"},
	)
	return t
}

// showColumns are the columns of a SHOW.
func (s *session) showColumns(c command.Show) ([]command.Column, error) {
	var names []string
	table := s.consoleTable(c.Name)
	_, known := s.settings.get(strings.ToLower(c.Name))
	switch {
	case c.All:
		names = []string{"name", "setting", "description"}
	case table != nil:
		names = table().Columns
	case known:
		names = []string{s.settings.spelling(c.Name)}
	default:
		return nil, noSetting(c.Name)
	}
	var columns []command.Column
	for _, name := range names {
		columns = append(columns, command.Column{Label: name, Type: command.Text, Width: -1})
	}
	return columns, nil
}

// show returns the rows of a SHOW.
func (s *session) show(c command.Show) ([][]string, error) {
	if c.All {
		return s.settings.all(), nil
	}
	if table := s.consoleTable(c.Name); table != nil {
		return table().Rows, nil
	}
	value, known := s.settings.get(strings.ToLower(c.Name))
	if !known {
		return nil, noSetting(c.Name)
	}
	return [][]string{{value}}, nil
}

// all returns all settings, sorted by name.
func (x *settings) all() (rows [][]string) {
	names := make(map[string]bool)
	for _, m := range []map[string]string{presets, x.startup, x.session, x.local} {
		for name := range m {
			names[name] = true
		}
	}
	for name := range x.server {
		names[strings.ToLower(name)] = true
	}
	for _, name := range []string{
		"is_superuser", "session_authorization", "server_version_num", "transaction_deferrable",
		"transaction_isolation", "transaction_read_only",
	} {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		value, _ := x.get(name)
		rows = append(rows, []string{x.spelling(name), value, ""})
	}
	return rows
}
