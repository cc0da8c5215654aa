package statement

import "sync/atomic"

// Permission says which answered forms a session may get from memory: those all of whose names surely mean what they
// seem to mean. It may change while sessions use it. The zero value and nil permit nothing.
type Permission struct{ names atomic.Uint32 }

// Set permits forms of these names from now on.
func (p *Permission) Set(names Names) { p.names.Store(uint32(names)) }

// Allows says whether the form is permitted now.
func (p *Permission) Allows(f *Form) bool {
	return p != nil && f.Names&^Names(p.names.Load()) == 0
}
