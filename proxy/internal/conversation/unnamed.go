package conversation

import (
	"bytes"

	"pgflurry/proxy/internal/wire"
)

// unnamed is what the client believes about its unnamed statement and portal. An answered batch makes that differ from
// what upstream has. Nobody can notice before extended-query messages, or a FunctionCall, are forwarded. So the proxy
// puts messages of its own in front of the next such batch: Close of the statement, Close of the portal. It swallows
// their replies. If one of them fails, for example after a cancel request, the client gets the error. Upstream then
// skips the whole batch, so nothing else in it matters.
//
// A FunctionCall has no Sync that ends the skipping. So a Sync of the proxy's own follows the Closes there. After an
// error in a transaction block the FunctionCall fails, too, and the client gets both errors.
//
// After the Closes the statement is gone (26000), and so is the portal (34000). If the client's batch begins by using
// the statement, the Parse that was answered follows the Closes, and makes the statement again. A Query needs no help:
// it drops both as it begins to run. But if it copies in, upstream would take the Closes behind it for the copy's data.
// So a batch that needs them waits until upstream has begun to copy, or has run the Query (AwaitCopy).
//
// Close of the statement comes first, because it cannot fail. The proxy omits it if a Parse follows that does the same.
type unnamed struct {
	statementDiffers bool   // the client's statement is another one, or gone
	portalDiffers    bool   // the same for the portal
	parse            []byte // the Parse of the client's statement; empty: it has none

	there unnamedObjects // what upstream may have, going by its replies so far; guarded by Conversation.mu
}

// inTheWay says whether upstream may have an object that the client does not mean.
func (s *unnamed) inTheWay() bool {
	return s.statementDiffers && s.there&unnamedStatement != 0 || s.portalDiffers && s.there&unnamedPortal != 0
}

// putRight makes the messages that must go in front of a batch that begins with this one. It enters them in e, the
// batch's entry.
func (s *unnamed) putRight(e *entry, all *statements, kind byte, body []byte, whole bool) (before []byte) {
	portal := s.portalDiffers && s.there&unnamedPortal != 0
	if s.statementDiffers && s.there&unnamedStatement != 0 && (portal || !dropsUnnamed(kind, body, whole)) {
		before = append(before, wire.CloseUnnamedStatement...)
		e.drops |= unnamedStatement
		e.ownCloses++
	}
	if portal {
		before = append(before, wire.CloseUnnamedPortal...)
		e.drops |= unnamedPortal
		e.ownCloses++
	}
	switch {
	case len(s.parse) == 0:
	case usesUnnamed(kind, body, whole):
		before = append(before, s.parse...)
		e.makes |= unnamedStatement
		e.ownParses++
		all.unnamed.state = pending
		e.learns = []*known{all.unnamed}
	default:
		all.unnamed = nil
	}
	s.statementDiffers, s.portalDiffers, s.parse = false, false, s.parse[:0]
	return before
}

// usesUnnamed says whether a message uses the unnamed statement. It also says so of a Bind whose portal's name does not
// end in the buffer. No client is hurt by a statement that it has parsed.
func usesUnnamed(kind byte, body []byte, whole bool) bool {
	switch kind {
	case wire.FrontendBind:
		_, rest, found := bytes.Cut(body, []byte{0})
		name, _ := wire.CutName(rest)
		return found && len(name) == 0 || !found && !whole
	case wire.FrontendDescribe:
		what, name := wire.CutTarget(body)
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
	name, rest := wire.CutName(body)
	text, _, ok := cutTypes(rest)
	return ok && len(name) == 0 && isPlain(text)
}
