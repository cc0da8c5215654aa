package idserver

import (
	"pgflurry/proxy/idserver/state"
	"pgflurry/proxy/internal/wire"
)

// query runs the statements of a Query, one after the other.
func (e *engine) query(body []byte) error {
	known, text, commands, err := e.session.Query(body)
	switch {
	case err != nil:
		return err
	case known != nil:
		return e.statement(known, true)
	case len(commands) == 0:
		e.session.Transaction.Finish()
		e.add(wire.EmptyQuery)
		return nil
	}
	for i, c := range commands {
		if err := e.checkCancel(); err != nil {
			return err
		}
		p, err := e.session.Prepare(c, text, len(commands) > 1)
		if err != nil {
			return err
		}
		if err := e.statement(p, i == len(commands)-1); err != nil {
			return err
		}
	}
	return nil
}

// statement runs a statement of a Query in the unnamed portal: [RowDescription, its rows] CommandComplete.
func (e *engine) statement(p *state.Statement, last bool) error {
	portal, err := e.session.Open(p)
	if err != nil {
		return err
	}
	if portal.HasRows() {
		e.Out = portal.AppendDescription(e.Out)
	}
	tag, n, err := e.portal(portal, state.Everything)
	if err != nil {
		return err
	}
	e.session.Closed(last)
	e.complete(tag, n)
	return nil
}

// portal runs a portal. If it gives rows, portal writes up to most of the remaining ones and returns how many.
func (e *engine) portal(p *state.Portal, most int) (tag string, n int, err error) {
	if !p.HasRows() {
		return e.command(p)
	}
	if err := e.session.BeginRows(p); err != nil {
		return "", 0, err
	}
	n, err = e.rows(&e.session, p, most)
	p.Wrote(err)
	return p.Tag(), n, err
}

// command runs a portal without rows. It has a frame of its own, because an idle session keeps the stack that its
// deepest call needed. Answers of IDs fit into 4 KiB.
//
//go:noinline
func (e *engine) command(p *state.Portal) (tag string, n int, err error) {
	done, err := e.session.Do(p)
	e.warn(done.Warning)
	return done.Tag, done.Skipped, err
}

// execute handles an Execute: it writes all rows of a portal, or as many as the client asks for.
func (e *engine) execute(body []byte) error {
	p, most, err := e.session.Execute(body)
	switch {
	case err != nil:
		return err
	case p.Empty():
		e.add(wire.EmptyQuery)
		return nil
	}
	commits := p.CommitsAtOnce() // afterwards p may be gone
	tag, n, err := e.portal(p, most)
	if err != nil {
		return err
	}
	if p.HasRows() && n == most {
		e.add(wire.PortalSuspended)
		return e.session.Suspended(p)
	}
	e.session.Executed(commits)
	e.complete(tag, n)
	return nil
}
