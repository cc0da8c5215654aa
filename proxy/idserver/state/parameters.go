package state

import (
	"maps"
	"slices"
	"strings"

	"pgflurry/proxy/idserver/command"
)

// Parameters are the settings of a session. Nothing here depends on them. They are kept so that a client can read what
// it has set.
//
//	local     SET LOCAL, until the transaction ends
//	session   SET
//	startup   of the startup packet: RESET goes back to it
//	          what the real server reports, or else a default (values.go)
//
// Names are in lower case. The value comes from the first of these that has the name.
type Parameters struct {
	local, session, startup map[string]string

	kept     *Kept
	server   map[string]string // the real server's, in its own spelling; shared, and never changed
	user     string
	changed  bool              // since the last report
	reported map[string]string // values that report has sent, if they differ from those at login
}

// get is the value of a setting, by its name in lower case; false: there is none.
func (x *Parameters) get(name string) (string, bool) {
	if value, ok := x.local[name]; ok {
		return value, true
	}
	if value, ok := x.session[name]; ok {
		return value, true
	}
	return x.initial(name)
}

// initial is the value that RESET restores.
func (x *Parameters) initial(name string) (string, bool) {
	if value, ok := x.startup[name]; ok {
		return value, true
	}
	if start, ok := strings.CutPrefix(name, "transaction_"); ok {
		return x.get("default_transaction_" + start)
	}
	return x.preset(name)
}

// Begin sets a parameter of the startup packet.
func (x *Parameters) Begin(name, value string) error {
	lower, value, err := x.accept(name, []string{value})
	if err != nil {
		return err
	}
	if err := x.kept.Add(CostOf(lower) + len(value)); err != nil {
		return err
	}
	put(&x.startup, lower, &value)
	return nil
}

// Reported are the values of all settings that are reported to the client, in the server's spelling and order.
func (x *Parameters) Reported() (all []command.Setting) {
	names := slices.SortedFunc(maps.Keys(x.server), func(a, b string) int {
		return strings.Compare(strings.ToLower(a), strings.ToLower(b))
	})
	for _, name := range names {
		value, _ := x.get(strings.ToLower(name))
		all = append(all, command.Setting{Name: name, Value: value})
	}
	return all
}

// Changes are those that have changed since the last report.
func (x *Parameters) Changes() []command.Setting {
	if !x.changed {
		return nil
	}
	x.changed = false
	return slices.DeleteFunc(x.Reported(), func(now command.Setting) bool {
		before, known := x.reported[now.Name]
		if !known {
			before, _ = x.initial(strings.ToLower(now.Name))
		}
		if now.Value != before {
			put(&x.reported, now.Name, &now.Value)
		}
		return now.Value == before
	})
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
func (x *Parameters) set(name string, value *string, local bool) error {
	x.changed = true
	if local {
		if value == nil {
			initial, _ := x.initial(name)
			value = &initial
		}
		return x.swap(&x.local, name, value)
	}
	if err := x.swap(&x.session, name, value); err != nil {
		return err
	}
	return x.swap(&x.local, name, nil)
}

// swap is put, and counts the bytes that are kept. It cannot fail if value takes no more than the one before.
func (x *Parameters) swap(m *map[string]string, name string, value *string) error {
	more := 0
	if value != nil {
		more = CostOf(name) + len(*value)
	}
	if old := have(*m, name); old != nil {
		more -= CostOf(name) + len(*old)
	}
	if more <= 0 {
		x.kept.Free(-more)
	} else if err := x.kept.Add(more); err != nil {
		return err
	}
	put(m, name, value)
	return nil
}

// end ends the transaction, and its local settings. No rollback undoes others: nothing here depends on a setting.
func (x *Parameters) end() {
	x.changed = x.changed || len(x.local) > 0
	for name := range x.local {
		_ = x.swap(&x.local, name, nil)
	}
}
