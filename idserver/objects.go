package idserver

import (
	"bytes"
	"fmt"

	"pgflurry/idserver/command"
	"pgflurry/proxy/wire"
)

const (
	// maxKept bounds what a client can make its session keep, in bytes: names and texts, and what each costs beside.
	maxKept = 512 << 10
	// maxRemembered is the longest text of which the session remembers what it says, in bytes.
	maxRemembered = 256
)

// objects are what a client made: prepared statements, portals and cursors.
type objects struct {
	kept          int // bytes, of settings and savepoints too
	statements    map[string]*prepared
	unnamed       *prepared // nil: none
	portals       map[string]*portal
	unnamedPortal portal // unless its statement is nil
	text          []byte // the last one that drew IDs; what it says:
	said          *prepared
}

// prepared is a statement that was read.
type prepared struct {
	command command.Command // nil: an empty one
	types   []uint32        // of its parameters
	seen    shape           // what its rows looked like when it was parsed; those of a Query never change
	cost    int
}

// keep counts bytes that are kept from now on.
func (o *objects) keep(bytes int) error {
	if o.kept+bytes > maxKept {
		return problem{
			"54000", fmt.Sprintf("this session keeps %d bytes, and %d more are too many", o.kept, bytes),
			fmt.Sprintf("Statements, cursors, settings and savepoints have %d bytes together: "+
				"close, deallocate or reset some.", maxKept),
		}
	}
	o.kept += bytes
	return nil
}

// costOfValue is what a command.Value takes beside its text, in bytes.
const costOfValue = 32

// costOf is what is kept of a name, or of anything else that is as short, beside its bytes.
func costOf[T string | []byte](name T) int { return 96 + len(name) }

// costOfStatement is what is kept of one: what its text says, and the types of its parameters. In a list of short
// values, such as SELECT 1,1,1, each takes much more than its text.
func costOfStatement(text []byte, types []uint32) int {
	return 256 + 10*len(text) + 128*bytes.Count(text, []byte{','}) + 4*len(types)
}

// cut is the part of a name that counts.
func cut[T string | []byte](name T) T { return name[:min(len(name), wire.NameBytes)] }

// remembered is what a text says that came before.
func (o *objects) remembered(text []byte) *prepared {
	if o.said != nil && bytes.Equal(text, o.text) {
		return o.said
	}
	return nil
}

// remember keeps what a text says that draws IDs: the same will come again.
func (o *objects) remember(text []byte, p *prepared) {
	if _, draws := p.command.(command.Draw); draws && len(text) <= maxRemembered {
		o.text, o.said = append(o.text[:0], text...), p
	}
}

// find gives a prepared statement. The empty name is the unnamed one's.
func (o *objects) find(name []byte) (*prepared, error) {
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
func (o *objects) store(name string, p *prepared) error {
	if name == "" {
		o.dropUnnamed()
		if err := o.keep(p.cost); err != nil {
			return err
		}
		o.unnamed = p
		return nil
	}
	key := cut(name)
	if o.statements[key] != nil {
		return problem{"42P05", `prepared statement "` + name + `" already exists`, ""}
	}
	if err := o.keep(p.cost + costOf(key)); err != nil {
		return err
	}
	if o.statements == nil {
		o.statements = make(map[string]*prepared)
	}
	o.statements[key] = p
	return nil
}

func (o *objects) dropUnnamed() {
	if o.unnamed != nil {
		o.kept -= o.unnamed.cost
		o.unnamed = nil
	}
}

// deallocate forgets a prepared statement; false: there is none.
func (o *objects) deallocate(name string) bool {
	key := cut(name)
	p := o.statements[key]
	if p == nil {
		return false
	}
	o.kept -= p.cost + costOf(key)
	delete(o.statements, key)
	return true
}

// deallocateAll forgets those that have a name.
func (o *objects) deallocateAll() {
	for name, p := range o.statements {
		o.kept -= p.cost + costOf(name)
	}
	o.statements = nil
}

// portal finds one; nil if there is none.
func (o *objects) portal(name []byte) *portal {
	if len(name) > 0 {
		return o.portals[string(cut(name))]
	}
	if o.unnamedPortal.statement != nil {
		return &o.unnamedPortal
	}
	return nil
}

// newPortal makes an empty portal of a statement that costs so much, which a named one may outlive. The unnamed one is
// replaced, another must not be there.
func (o *objects) newPortal(name []byte, statement int) (*portal, error) {
	if len(name) == 0 {
		o.dropPortal(nil)
		o.unnamedPortal.reset()
		return &o.unnamedPortal, nil
	}
	if o.portal(name) != nil {
		return nil, problem{"42P03", `cursor "` + string(name) + `" already exists`, ""}
	}
	key := string(cut(name))
	p := &portal{cost: costOf(key) + statement}
	if err := o.keep(p.cost); err != nil {
		return nil, err
	}
	if o.portals == nil {
		o.portals = make(map[string]*portal)
	}
	o.portals[key] = p
	return p, nil
}

// dropPortal closes a portal, if there is one.
func (o *objects) dropPortal(name []byte) {
	p := o.portal(name)
	if p == nil {
		return
	}
	o.kept -= p.cost
	if len(name) > 0 {
		delete(o.portals, string(cut(name)))
		return
	}
	p.reset()
}

// dropPortals closes those that end with their transaction.
func (o *objects) dropPortals() {
	o.dropPortal(nil)
	for name, p := range o.portals {
		if !p.hold {
			o.dropPortal([]byte(name))
		}
		p.held = true
	}
}

// dropNew closes those that the transaction made, although they would have outlived it.
func (o *objects) dropNew() {
	for name, p := range o.portals {
		if !p.held {
			o.dropPortal([]byte(name))
		}
	}
}

// release gives those of a savepoint, and of what is behind it, to the one before.
func (o *objects) release(level int) {
	o.unnamedPortal.level = min(o.unnamedPortal.level, level)
	for _, p := range o.portals {
		p.level = min(p.level, level)
	}
}

// fail marks those that were made since the last savepoint. They stay, and cannot be executed.
func (o *objects) fail(level int) {
	o.unnamedPortal.failed = o.unnamedPortal.level >= level
	for _, p := range o.portals {
		p.failed = p.failed || !p.held && p.level >= level
	}
}

// dropAbove closes those that were made behind a savepoint.
func (o *objects) dropAbove(level int) {
	if o.unnamedPortal.statement != nil && o.unnamedPortal.level > level {
		o.dropPortal(nil)
	}
	for name, p := range o.portals {
		if !p.held && p.level > level {
			o.dropPortal([]byte(name))
		}
	}
}

// closeAll closes all of them but the one that says so.
func (o *objects) closeAll(but *portal) {
	if but != &o.unnamedPortal {
		o.dropPortal(nil)
	}
	for name, p := range o.portals {
		if p != but {
			o.dropPortal([]byte(name))
		}
	}
}
