package proxy

import (
	"bytes"
	"unicode/utf8"

	"pgflurry/proxy/wire"
)

// unnamed is what the client believes about its unnamed statement and portal. An answered batch makes that differ from
// what upstream has. Nobody can notice before extended-query messages are forwarded. So the proxy puts messages of its
// own in front of the next such batch: Close of the statement, Close of the portal. It swallows their replies. If one
// of them fails, for example after a cancel request, the client gets the error. Upstream then skips the whole batch, so
// nothing else in it matters.
//
// After the Closes the statement is gone (26000), and so is the portal (34000). If the client's batch begins by using
// the statement, the Parse that was answered follows the Closes, and makes the statement again. A Query needs no help:
// it drops both as it begins to run.
//
// Close of the statement comes first, because it cannot fail. The proxy omits it if a Parse follows that does the same.
type unnamed struct {
	statementDiffers bool   // the client's statement is another one, or gone
	portalDiffers    bool   // the same for the portal
	parse            []byte // the Parse of the client's statement; empty: it has none
}

// inTheWay says whether upstream may have an object that the client does not mean.
func (c *conversation) inTheWay() bool {
	s := &c.unnamed
	return s.statementDiffers && c.there&unnamedStatement != 0 || s.portalDiffers && c.there&unnamedPortal != 0
}

// putRight makes the messages that must go in front of a batch that begins with this one. It enters them in e, the
// batch's entry.
func (c *conversation) putRight(e *entry, kind byte, body []byte, whole bool) (before []byte) {
	s := &c.unnamed
	portal := s.portalDiffers && c.there&unnamedPortal != 0
	if s.statementDiffers && c.there&unnamedStatement != 0 && (portal || !dropsUnnamed(kind, body, whole)) {
		before = append(before, closeUnnamedStatement...)
		e.drops |= unnamedStatement
		e.ownCloses++
	}
	if portal {
		before = append(before, closeUnnamedPortal...)
		e.drops |= unnamedPortal
		e.ownCloses++
	}
	switch {
	case len(s.parse) == 0:
	case usesUnnamed(kind, body):
		before = append(before, s.parse...)
		e.makes |= unnamedStatement
		e.ownParses++
		c.knownUnnamed.state = pending
		e.learns = []*known{c.knownUnnamed}
	default:
		c.knownUnnamed = nil
	}
	s.statementDiffers, s.portalDiffers, s.parse = false, false, s.parse[:0]
	return before
}

// usesUnnamed says whether a message uses the unnamed statement. It reads no more of a portal's name than PostgreSQL
// does. That much is in the buffer, even if the message is larger.
func usesUnnamed(kind byte, body []byte) bool {
	switch kind {
	case wire.FrontendBind:
		portal, rest := cutName(body)
		name, _ := cutName(rest)
		return len(portal) <= wire.NameBytes && len(name) == 0
	case wire.FrontendDescribe:
		what, name := cutTarget(body)
		return what == wire.OfStatement && len(name) == 0
	}
	return false
}

// dropsUnnamed says whether PostgreSQL drops the unnamed statement (drop_unnamed_stmt) before anything in the message
// can fail. That holds for the Parse of another unnamed statement, if it is well-formed and pure ASCII, which is the
// same in every encoding.
func dropsUnnamed(kind byte, body []byte, whole bool) bool {
	if kind != wire.FrontendParse || !whole {
		return false
	}
	name, rest := cutName(body)
	text, _, ok := cutTypes(rest)
	return ok && len(name) == 0 && !bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}
