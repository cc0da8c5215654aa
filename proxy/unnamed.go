package proxy

import (
	"bytes"
	"unicode/utf8"

	"pgflurry/proxy/wire"
)

// unnamed is what the client believes of its unnamed statement and portal, where a batch that was answered has made
// that differ from what upstream has. Nobody can notice before extended-query messages are forwarded. So the next batch
// of those begins with messages of the proxy's own: Close of the statement, Close of the portal. Their replies are
// swallowed. An error, such as that of a cancel request, is the client's: upstream skips its batch, so what is left of
// before is neither run nor read.
//
// The statement is gone from then on (26000), unless the client's batch begins by using it: then the Parse that was
// answered follows the Closes. So is the portal in any case (34000). A Query needs no help: it drops both as it begins
// to run.
//
// Close of the statement comes first, because it cannot fail. It is left out where a Parse follows that does the same.
type unnamed struct {
	statementDiffers bool   // the client's is another, or gone
	portalDiffers    bool   // the same
	parse            []byte // the Parse of the client's statement; empty: it has none
}

// inTheWay says that upstream may have what the client does not mean.
func (c *conversation) inTheWay() bool {
	s := &c.unnamed
	return s.statementDiffers && c.there&unnamedStatement != 0 || s.portalDiffers && c.there&unnamedPortal != 0
}

// putRight makes what has to be sent in front of a batch that begins with this message, and enters it in e,
// the batch's entry.
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

// usesUnnamed says that a message uses the unnamed statement. Of a portal's name no more is looked at than PostgreSQL
// looks at, which is in sight also where the message is larger than the buffer.
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

// dropsUnnamed says that PostgreSQL drops the unnamed statement before anything of the message can fail
// (drop_unnamed_stmt). The message is a Parse of another one. It can be taken apart, and has only characters that are
// the same in every encoding.
func dropsUnnamed(kind byte, body []byte, whole bool) bool {
	if kind != wire.FrontendParse || !whole {
		return false
	}
	name, rest := cutName(body)
	text, _, ok := cutTypes(rest)
	return ok && len(name) == 0 && !bytes.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}
