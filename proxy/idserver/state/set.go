package state

import (
	"maps"
	"slices"
	"strings"

	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/command"
)

// setCommand runs SET.
func (t *Transaction) setCommand(c command.Set) (warning fault.Error, err error) {
	if c.Local && !t.long() {
		warning = t.warn("25P01", "SET LOCAL can only be used in transaction blocks")
	}
	if c.Default {
		name, err := free(c.Name)
		if err != nil {
			return warning, err
		}
		return warning, t.parameters.set(name, nil, c.Local)
	}
	name, value, err := t.parameters.accept(c.Name, c.Values)
	if err != nil {
		return warning, err
	}
	return warning, t.parameters.set(name, &value, c.Local)
}

func (t *Transaction) setTransaction(c command.SetTransaction) (warning fault.Error, err error) {
	if !c.Session && !t.long() {
		warning = t.warn("25P01", "SET TRANSACTION can only be used in transaction blocks")
	}
	return warning, t.setModes(c.Modes, !c.Session)
}

// setModes sets the modes of this transaction, or of later ones.
func (t *Transaction) setModes(modes []command.Setting, local bool) error {
	for _, mode := range modes {
		if err := t.parameters.set(mode.Name, &mode.Value, local); err != nil {
			return err
		}
	}
	return nil
}

func (t *Transaction) reset(c command.Reset) error {
	if c.All {
		return t.ResetAll()
	}
	name, err := free(c.Name)
	if err != nil {
		return err
	}
	if _, known := t.parameters.get(name); !known && !strings.Contains(name, ".") {
		return noSetting(c.Name)
	}
	return t.parameters.set(name, nil, false)
}

// ResetAll sets all settings to their values at login. There is room for that in a session that is full.
func (t *Transaction) ResetAll() error {
	for _, name := range slices.Sorted(maps.Keys(t.parameters.session)) {
		if err := t.parameters.set(name, nil, false); err != nil {
			return err
		}
	}
	return nil
}
