package state

import (
	"maps"
	"slices"
	"strings"

	"pgflurry/idserver/command"
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
	journal  []change          // of this transaction
	changed  bool              // since the last report
	reported map[string]string // values that report has sent, if they differ from those at login
}

// change is the state before a SET of this transaction. A rollback restores it.
type change struct {
	name           string
	session, local *string // nil: none
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

// set sets a setting, whose name is in lower case. If value is nil, it restores the value at login. mark is where the
// journal was at the last savepoint.
func (x *Parameters) set(name string, value *string, local bool, mark int) error {
	if err := x.note(name, value == nil && !local, mark); err != nil {
		return err
	}
	x.changed = true
	if local {
		if value == nil {
			initial, _ := x.initial(name)
			value = &initial
		}
		return x.swap(&x.local, name, value)
	}
	if err := x.swap(&x.local, name, nil); err != nil {
		return err
	}
	return x.swap(&x.session, name, value)
}

// swap is put, and counts the bytes that are kept.
func (x *Parameters) swap(m *map[string]string, name string, value *string) error {
	if value != nil {
		if err := x.kept.Add(CostOf(name) + len(*value)); err != nil {
			return err
		}
	}
	if old, ok := (*m)[name]; ok {
		x.kept.Free(CostOf(name) + len(old))
	}
	put(m, name, value)
	return nil
}

// note writes the present value of a setting to the journal, once between two savepoints. gone says that the value is
// about to be removed. Then the journal may take its place, even in a session that is full.
func (x *Parameters) note(name string, gone bool, mark int) error {
	for _, c := range x.journal[mark:] {
		if c.name == name {
			return nil
		}
	}
	c := change{name, have(x.session, name), have(x.local, name)}
	if gone && (c.session != nil || c.local != nil) {
		x.kept.bytes += c.cost()
	} else if err := x.kept.Add(c.cost()); err != nil {
		return err
	}
	x.journal = append(x.journal, c)
	return nil
}

func (c change) cost() int {
	n := CostOf(c.name)
	for _, value := range []*string{c.session, c.local} {
		if value != nil {
			n += len(*value)
		}
	}
	return n
}

// undo restores the settings that the journal has after a mark.
func (x *Parameters) undo(marks int) {
	for i := len(x.journal) - 1; i >= marks; i-- {
		c := x.journal[i]
		x.kept.Free(c.cost())
		x.restore(&x.session, c.name, c.session)
		x.restore(&x.local, c.name, c.local)
		x.journal[i] = change{}
		x.changed = true
	}
	x.journal = x.journal[:min(marks, len(x.journal))]
}

// restore is swap for a value that was kept before, so there is room for it.
func (x *Parameters) restore(m *map[string]string, name string, value *string) {
	if old, ok := (*m)[name]; ok {
		x.kept.Free(CostOf(name) + len(old))
	}
	if value != nil {
		x.kept.bytes += CostOf(name) + len(*value)
	}
	put(m, name, value)
}

// commit empties the journal, and ends local settings.
func (x *Parameters) commit() {
	for _, c := range x.journal {
		x.kept.Free(c.cost())
	}
	x.journal = nil
	for name := range x.local {
		x.restore(&x.local, name, nil)
		x.changed = true
	}
}
