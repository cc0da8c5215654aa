package state

import (
	"bytes"

	"pgflurry/internal/fault"
	"pgflurry/proxy/idserver/command"
	"pgflurry/proxy/internal/wire"
)

// maxRemembered is the longest text, in bytes, whose meaning the session remembers.
const maxRemembered = 256

// Objects are what a client has made: prepared statements, portals and cursors.
type Objects struct {
	kept          *Kept
	statements    map[string]*Statement
	unnamed       *Statement // nil: none
	portals       map[string]*Portal
	unnamedPortal Portal // there is one only if its statement is not nil
	text          []byte // the last text that drew IDs; said is its meaning
	said          *Statement
}

// Statement is a prepared statement.
type Statement struct {
	command command.Command // nil: an empty statement
	types   []uint32        // of its parameters
	seen    shape           // shape of its rows at Parse; that of a Query never changes
	cost    int
}

// cut is the part of a name that counts.
func cut[T string | []byte](name T) T { return name[:min(len(name), wire.NameBytes)] }

// remembered is the meaning of a text if it is the same as the last one.
func (o *Objects) remembered(text []byte) *Statement {
	if o.said != nil && bytes.Equal(text, o.text) {
		return o.said
	}
	return nil
}

// remember keeps the meaning of a text that draws IDs: clients usually send the same one again.
func (o *Objects) remember(text []byte, p *Statement) {
	if _, draws := p.command.(command.Draw); draws && len(text) <= maxRemembered {
		o.text, o.said = append(o.text[:0], text...), p
	}
}

// find finds a prepared statement. The empty name stands for the unnamed one.
func (o *Objects) find(name []byte) (*Statement, error) {
	p := o.unnamed
	if len(name) > 0 {
		p = o.statements[string(cut(name))]
	}
	switch {
	case p != nil:
		return p, nil
	case len(name) == 0:
		return nil, errNoUnnamed
	}
	return nil, noStatement(string(name))
}

// store keeps a prepared statement under a name that is free, or as the unnamed one.
func (o *Objects) store(name string, p *Statement) error {
	if name == "" {
		o.DropUnnamed()
		if err := o.kept.Add(p.cost); err != nil {
			return err
		}
		o.unnamed = p
		return nil
	}
	key := cut(name)
	if o.statements[key] != nil {
		return fault.New("42P05", `prepared statement "`+name+`" already exists`, "")
	}
	if err := o.kept.Add(p.cost + CostOf(key)); err != nil {
		return err
	}
	if o.statements == nil {
		o.statements = make(map[string]*Statement)
	}
	o.statements[key] = p
	return nil
}

// DropUnnamed forgets the unnamed statement.
func (o *Objects) DropUnnamed() {
	if o.unnamed != nil {
		o.kept.Free(o.unnamed.cost)
		o.unnamed = nil
	}
}

// deallocate forgets a prepared statement; false: there is none.
func (o *Objects) deallocate(name string) bool {
	key := cut(name)
	p := o.statements[key]
	if p == nil {
		return false
	}
	o.kept.Free(p.cost + CostOf(key))
	delete(o.statements, key)
	return true
}

// DeallocateAll forgets all named statements.
func (o *Objects) DeallocateAll() {
	for name, p := range o.statements {
		o.kept.Free(p.cost + CostOf(name))
	}
	o.statements = nil
}

// portal finds a portal; nil if there is none.
func (o *Objects) portal(name []byte) *Portal {
	if len(name) > 0 {
		return o.portals[string(cut(name))]
	}
	if o.unnamedPortal.statement != nil {
		return &o.unnamedPortal
	}
	return nil
}

// cursor finds a portal by its name in SQL; nil if there is none.
func (o *Objects) cursor(name string) *Portal { return o.portals[cut(name)] }

// newPortal makes an empty portal of a statement. statement is that statement's cost, because a named portal may
// outlive it. The unnamed portal is replaced; a named one must not exist.
func (o *Objects) newPortal(name []byte, statement int) (*Portal, error) {
	if len(name) == 0 {
		o.dropPortal(nil)
		o.unnamedPortal.reset()
		return &o.unnamedPortal, nil
	}
	if o.portal(name) != nil {
		return nil, fault.New("42P03", `cursor "`+string(name)+`" already exists`, "")
	}
	key := string(cut(name))
	p := &Portal{cost: CostOf(key) + statement}
	if err := o.kept.Add(p.cost); err != nil {
		return nil, err
	}
	if o.portals == nil {
		o.portals = make(map[string]*Portal)
	}
	o.portals[key] = p
	return p, nil
}

// dropPortal closes a portal, if there is one.
func (o *Objects) dropPortal(name []byte) {
	p := o.portal(name)
	if p == nil {
		return
	}
	o.kept.Free(p.cost)
	if len(name) > 0 {
		delete(o.portals, string(cut(name)))
		return
	}
	p.reset()
}

// dropPortals closes the portals that end with their transaction.
func (o *Objects) dropPortals() {
	o.dropPortal(nil)
	for name, p := range o.portals {
		if !p.hold {
			o.dropPortal([]byte(name))
		}
		p.held = true
	}
}

// dropNew closes the portals that the transaction made, including those that would have outlived it.
func (o *Objects) dropNew() {
	for name, p := range o.portals {
		if !p.held {
			o.dropPortal([]byte(name))
		}
	}
}

// release gives the portals of a savepoint, and of later ones, to the savepoint before it.
func (o *Objects) release(level int) {
	o.unnamedPortal.level = min(o.unnamedPortal.level, level)
	for _, p := range o.portals {
		p.level = min(p.level, level)
	}
}

// fail marks the portals that were made since the last savepoint. They stay, but cannot be executed.
func (o *Objects) fail(level int) {
	o.unnamedPortal.failed = o.unnamedPortal.level >= level
	for _, p := range o.portals {
		p.failed = p.failed || !p.held && p.level >= level
	}
}

// dropAbove closes the portals that were made after a savepoint.
func (o *Objects) dropAbove(level int) {
	if o.unnamedPortal.statement != nil && o.unnamedPortal.level > level {
		o.dropPortal(nil)
	}
	for name, p := range o.portals {
		if !p.held && p.level > level {
			o.dropPortal([]byte(name))
		}
	}
}

// CloseAll closes all portals except the one that runs the command.
func (o *Objects) CloseAll(but *Portal) {
	if but != &o.unnamedPortal {
		o.dropPortal(nil)
	}
	for name, p := range o.portals {
		if p != but {
			o.dropPortal([]byte(name))
		}
	}
}

// prepare makes a prepared statement of a command with this text.
func prepare(c command.Command, declared []uint32, text []byte) (*Statement, error) {
	p := &Statement{command: c, types: declared, cost: costOfStatement(text, declared)}
	query, ok := c.(command.Query)
	if !ok {
		return p, command.Determined(declared)
	}
	types, err := query.Types(declared)
	if err != nil {
		return nil, err
	}
	p.types, p.cost = types, costOfStatement(text, types)
	p.seen = shape{hasRows: true}
	if draw, draws := c.(command.Draw); draws {
		p.seen.form = draw.Form
	} else {
		p.seen.columns = query.Columns(types)
	}
	return p, nil
}
