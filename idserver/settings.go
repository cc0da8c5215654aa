package idserver

import (
	"maps"
	"slices"
	"strings"

	"pgflurry/idserver/command"
	"pgflurry/proxy/wire"
)

// settings are the settings of a session. Nothing here depends on them. They are kept so that a client can read what it
// has set.
//
//	local     SET LOCAL, until the transaction ends
//	session   SET
//	startup   of the startup packet: RESET goes back to it
//	          what the real server reports, or else a default (parameters.go)
//
// Names are in lower case. The value comes from the first of these that has the name.
type settings struct {
	local, session, startup map[string]string

	server  map[string]string // the real server's, in its own spelling; shared, and never changed
	user    string
	journal []change          // of this transaction
	changed bool              // since the last report
	told    map[string]string // values that report has sent, if they differ from those at login
}

// change is the state before a SET of this transaction. A rollback restores it.
type change struct {
	name           string
	session, local *string // nil: none
}

// get is the value of a setting, by its name in lower case; false: there is none.
func (x *settings) get(name string) (string, bool) {
	if value, ok := x.local[name]; ok {
		return value, true
	}
	if value, ok := x.session[name]; ok {
		return value, true
	}
	return x.initial(name)
}

// initial is the value that RESET restores.
func (x *settings) initial(name string) (string, bool) {
	if value, ok := x.startup[name]; ok {
		return value, true
	}
	if start, ok := strings.CutPrefix(name, "transaction_"); ok {
		return x.get("default_transaction_" + start)
	}
	return x.preset(name)
}

// begin applies the options of the startup packet, and appends a ParameterStatus for each reported setting.
func (s *session) begin(options []option, out []byte) ([]byte, error) {
	x := &s.settings
	x.user = s.user
	x.server = s.server.settings.Parameters()
	for _, o := range options {
		name, value, err := x.accept(o.name, []string{o.value})
		if err != nil {
			return out, err
		}
		if err := s.objects.keep(costOf(name) + len(value)); err != nil {
			return out, err
		}
		put(&x.startup, name, &value)
	}
	for _, name := range x.reported() {
		value, _ := x.get(strings.ToLower(name))
		out = s.tell(out, name, value)
	}
	return out, nil
}

// tell writes a ParameterStatus.
func (s *session) tell(b []byte, name, value string) []byte {
	b, at := wire.Begin(b, wire.BackendParameterStatus)
	b = append(append(b, name...), 0)
	b = append(append(b, value...), 0)
	if name == "application_name" {
		s.application.Store(&value)
	}
	return wire.End(b, at)
}

// reported are the names of the settings that are reported to the client, in the server's spelling.
func (x *settings) reported() []string {
	return slices.SortedFunc(maps.Keys(x.server), func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
}

// report sends the client all changes since the last report.
func (s *session) report() {
	x := &s.settings
	x.changed = false
	for _, name := range x.reported() {
		lower := strings.ToLower(name)
		now, _ := x.get(lower)
		before, told := x.told[name]
		if !told {
			before, _ = x.initial(lower)
		}
		if now != before {
			s.out = s.tell(s.out, name, now)
			put(&x.told, name, &now)
		}
	}
}

// put sets a value, or removes it if it is nil.
func put(m *map[string]string, name string, value *string) {
	switch {
	case value == nil:
		delete(*m, name)
	case *m == nil:
		*m = map[string]string{name: *value}
	default:
		(*m)[name] = *value
	}
}

// have is the value in a map; nil if there is none.
func have(m map[string]string, name string) *string {
	if value, ok := m[name]; ok {
		return &value
	}
	return nil
}

// set sets a setting, whose name is in lower case. If value is nil, it restores the value at login.
func (s *session) set(name string, value *string, local bool) error {
	x := &s.settings
	if err := s.note(name, value == nil && !local); err != nil {
		return err
	}
	x.changed = true
	if local {
		if value == nil {
			initial, _ := x.initial(name)
			value = &initial
		}
		return s.swap(&x.local, name, value)
	}
	if err := s.swap(&x.local, name, nil); err != nil {
		return err
	}
	return s.swap(&x.session, name, value)
}

// swap is put, and counts the bytes that are kept.
func (s *session) swap(m *map[string]string, name string, value *string) error {
	if value != nil {
		if err := s.objects.keep(costOf(name) + len(*value)); err != nil {
			return err
		}
	}
	if old, ok := (*m)[name]; ok {
		s.objects.kept -= costOf(name) + len(old)
	}
	put(m, name, value)
	return nil
}

// note writes the present value of a setting to the journal, once between two savepoints. gone says that the value is
// about to be removed. Then the journal may take its place, even in a session that is full.
func (s *session) note(name string, gone bool) error {
	x := &s.settings
	marks := 0
	if n := len(s.transaction.savepoints); n > 0 {
		marks = s.transaction.savepoints[n-1].marks
	}
	for _, c := range x.journal[marks:] {
		if c.name == name {
			return nil
		}
	}
	c := change{name, have(x.session, name), have(x.local, name)}
	if gone && (c.session != nil || c.local != nil) {
		s.objects.kept += c.cost()
	} else if err := s.objects.keep(c.cost()); err != nil {
		return err
	}
	x.journal = append(x.journal, c)
	return nil
}

func (c change) cost() int {
	n := costOf(c.name)
	for _, value := range []*string{c.session, c.local} {
		if value != nil {
			n += len(*value)
		}
	}
	return n
}

// undo restores the settings that the journal has after a mark.
func (s *session) undo(marks int) {
	x := &s.settings
	for i := len(x.journal) - 1; i >= marks; i-- {
		c := x.journal[i]
		s.objects.kept -= c.cost()
		s.restore(&x.session, c.name, c.session)
		s.restore(&x.local, c.name, c.local)
		x.journal[i] = change{}
		x.changed = true
	}
	x.journal = x.journal[:min(marks, len(x.journal))]
}

// restore is swap for a value that was kept before, so there is room for it.
func (s *session) restore(m *map[string]string, name string, value *string) {
	if old, ok := (*m)[name]; ok {
		s.objects.kept -= costOf(name) + len(old)
	}
	if value != nil {
		s.objects.kept += costOf(name) + len(*value)
	}
	put(m, name, value)
}

// commitSettings empties the journal, and ends local settings.
func (s *session) commitSettings() {
	x := &s.settings
	for _, c := range x.journal {
		s.objects.kept -= c.cost()
	}
	x.journal = nil
	for name := range x.local {
		s.restore(&x.local, name, nil)
		x.changed = true
	}
}

// setCommand runs SET.
func (s *session) setCommand(c command.Set) error {
	if c.Local && !s.inTransaction() {
		s.warn("25P01", "SET LOCAL can only be used in transaction blocks")
	}
	if c.Default {
		name, err := s.settings.free(c.Name)
		if err != nil {
			return err
		}
		return s.set(name, nil, c.Local)
	}
	name, value, err := s.settings.accept(c.Name, c.Values)
	if err != nil {
		return err
	}
	return s.set(name, &value, c.Local)
}

// setModes sets the modes of this transaction, or of later ones.
func (s *session) setModes(modes []command.Setting, local bool) error {
	for _, mode := range modes {
		if err := s.set(mode.Name, &mode.Value, local); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) resetCommand(c command.Reset) error {
	if c.All {
		return s.resetAll()
	}
	name, err := s.settings.free(c.Name)
	if err != nil {
		return err
	}
	if _, known := s.settings.get(name); !known && !strings.Contains(name, ".") {
		return noSetting(c.Name)
	}
	return s.set(name, nil, false)
}

func (s *session) resetAll() error {
	for _, name := range slices.Sorted(maps.Keys(s.settings.session)) {
		if err := s.set(name, nil, false); err != nil {
			return err
		}
	}
	return nil
}

// environment is what a SELECT may ask of the session.
type environment struct{ s *session }

func (e environment) Version() string {
	version, _ := e.s.settings.get("server_version")
	return "PostgreSQL " + version + ", of which pgflurry answers for IDs alone"
}

func (e environment) Database() string { return e.s.server.settings.Database }
func (e environment) User() string     { return e.s.user }
func (e environment) PID() int32       { return e.s.pid }

func (e environment) Setting(name string) (string, bool) {
	return e.s.settings.get(strings.ToLower(name))
}

func (e environment) Set(name string, value *string, local bool) (string, error) {
	if value == nil {
		lower, err := e.s.settings.free(name)
		if err != nil {
			return "", err
		}
		err = e.s.set(lower, nil, local)
		now, _ := e.s.settings.get(lower)
		return now, err
	}
	lower, accepted, err := e.s.settings.accept(name, []string{*value})
	if err != nil {
		return "", err
	}
	return accepted, e.s.set(lower, &accepted, local)
}
