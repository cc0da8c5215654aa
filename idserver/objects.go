package idserver

import (
	"bytes"
	"fmt"

	"pgflurry/idserver/command"
	"pgflurry/proxy/wire"
)

const (
	// maxKept limits what a client can make its session keep, in bytes: names and texts, and the overhead of each.
	maxKept = 512 << 10
	// maxRemembered is the longest text, in bytes, whose meaning the session remembers.
	maxRemembered = 256
)

// objects are what a client has made: prepared statements, portals and cursors.
type objects struct {
	kept          int // bytes, including those of settings and savepoints
	statements    map[string]*prepared
	unnamed       *prepared // nil: none
	portals       map[string]*portal
	unnamedPortal portal // there is one only if its statement is not nil
	text          []byte // the last text that drew IDs; said is its meaning
	said          *prepared
}

// prepared is a statement that was read.
type prepared struct {
	command command.Command // nil: an empty statement
	types   []uint32        // of its parameters
	seen    shape           // shape of its rows at Parse; that of a Query never changes
	cost    int
}

// keep counts bytes that the session keeps from now on.
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

// costOfValue is the overhead of a command.Value beside its text, in bytes.
const costOfValue = 32

// costOf is what a name takes, with its overhead. It also holds for other things of that size.
func costOf[T string | []byte](name T) int { return 96 + len(name) }

// costOfStatement is what a prepared statement takes: the meaning of its text, and the types of its parameters. In a
// list of short values, such as SELECT 1,1,1, each takes much more memory than text.
func costOfStatement(text []byte, types []uint32) int {
	return 256 + 10*len(text) + 128*bytes.Count(text, []byte{','}) + 4*len(types)
}

// cut is the part of a name that counts.
func cut[T string | []byte](name T) T { return name[:min(len(name), wire.NameBytes)] }

// remembered is the meaning of a text if it is the same as the last one.
func (o *objects) remembered(text []byte) *prepared {
	if o.said != nil && bytes.Equal(text, o.text) {
		return o.said
	}
	return nil
}

// remember keeps the meaning of a text that draws IDs: clients usually send the same one again.
func (o *objects) remember(text []byte, p *prepared) {
	if _, draws := p.command.(command.Draw); draws && len(text) <= maxRemembered {
		o.text, o.said = append(o.text[:0], text...), p
	}
}

// find finds a prepared statement. The empty name stands for the unnamed one.
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

// deallocateAll forgets all named statements.
func (o *objects) deallocateAll() {
	for name, p := range o.statements {
		o.kept -= p.cost + costOf(name)
	}
	o.statements = nil
}

// portal finds a portal; nil if there is none.
func (o *objects) portal(name []byte) *portal {
	if len(name) > 0 {
		return o.portals[string(cut(name))]
	}
	if o.unnamedPortal.statement != nil {
		return &o.unnamedPortal
	}
	return nil
}

// newPortal makes an empty portal of a statement. statement is that statement's cost, because a named portal may
// outlive it. The unnamed portal is replaced; a named one must not exist.
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

// dropPortals closes the portals that end with their transaction.
func (o *objects) dropPortals() {
	o.dropPortal(nil)
	for name, p := range o.portals {
		if !p.hold {
			o.dropPortal([]byte(name))
		}
		p.held = true
	}
}

// dropNew closes the portals that the transaction made, including those that would have outlived it.
func (o *objects) dropNew() {
	for name, p := range o.portals {
		if !p.held {
			o.dropPortal([]byte(name))
		}
	}
}

// release gives the portals of a savepoint, and of later ones, to the savepoint before it.
func (o *objects) release(level int) {
	o.unnamedPortal.level = min(o.unnamedPortal.level, level)
	for _, p := range o.portals {
		p.level = min(p.level, level)
	}
}

// fail marks the portals that were made since the last savepoint. They stay, but cannot be executed.
func (o *objects) fail(level int) {
	o.unnamedPortal.failed = o.unnamedPortal.level >= level
	for _, p := range o.portals {
		p.failed = p.failed || !p.held && p.level >= level
	}
}

// dropAbove closes the portals that were made after a savepoint.
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

// closeAll closes all portals except the one that runs the command.
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
