package conversation

import (
	"fmt"
	"strings"

	"pgflurry/proxy/internal/wire"
)

// postgres is a model of a PostgreSQL session. It has what the conversation must understand: what is prepared, what is
// bound, what fails, and what is skipped. It takes whole messages, and replies as a server would.
type postgres struct {
	named    map[string]string
	unnamed  *string
	portals  map[string]string // the text of each; finished ones too
	status   byte
	skipping bool // up to the Sync
	block    bool
	ids      int
}

func newPostgres() *postgres {
	return &postgres{named: map[string]string{}, portals: map[string]string{}, status: wire.StatusIdle}
}

// said is one message of a server.
type said struct {
	kind byte
	body string
}

func (m said) String() string { return fmt.Sprintf("%c%.40q", m.kind, m.body) }

// take handles a message of the client.
func (p *postgres) take(kind byte, body []byte) (replies []said) {
	say := func(kind byte, body string) { replies = append(replies, said{kind, body}) }
	fail := func(code string) {
		say(wire.BackendErrorResponse, "SERROR\x00VERROR\x00C"+code+"\x00\x00")
		if p.block {
			p.status = wire.StatusFailed
		}
		p.skipping = kind != wire.FrontendQuery && kind != wire.FrontendSync && kind != wire.FrontendFunctionCall
	}
	if p.skipping && kind != wire.FrontendSync {
		return nil
	}
	switch kind {
	case wire.FrontendSync:
		p.skipping = false
		p.ends()
		say(wire.BackendReadyForQuery, string(p.status))
	case wire.FrontendFunctionCall: // of a function that deallocates, and tells what the unnamed portal is
		if code := p.refuses("function"); code != "" {
			fail(code)
		} else {
			clear(p.named)
			say('V', p.portals[""])
		}
		p.ends()
		say(wire.BackendReadyForQuery, string(p.status))
	case wire.FrontendFlush:
		if len(body) > 0 {
			fail("08P01")
		}
	case wire.FrontendQuery:
		text := strings.TrimSuffix(string(body), "\x00")
		if text != undecodable {
			p.unnamed = nil
		}
		if code := p.refuses(text); code != "" {
			fail(code)
		} else if text == "" {
			say('I', "")
		} else {
			delete(p.portals, "")
			p.run(text, say, fail)
		}
		p.ends()
		say(wire.BackendReadyForQuery, string(p.status))
	case wire.FrontendParse:
		name, rest := wire.CutName(body)
		text, _ := wire.CutName(rest)
		key := string(name[:min(len(name), wire.NameBytes)])
		switch {
		case string(text) == undecodable:
			fail("22021")
			return replies
		case key == "":
			p.unnamed = nil
		case p.has(key):
			fail("42P05")
			return replies
		}
		if code := p.refuses(string(text)); code != "" {
			fail(code)
			return replies
		}
		kept := string(text)
		if key == "" {
			p.unnamed = &kept
		} else {
			p.named[key] = kept
		}
		say(wire.BackendParseComplete, "")
	case wire.FrontendBind:
		portal, rest := wire.CutName(body)
		name, _ := wire.CutName(rest)
		text, ok := p.find(string(name))
		switch _, there := p.portals[string(portal)]; {
		case !ok:
			fail("26000")
		case p.status == wire.StatusFailed && !leaves(text):
			fail("25P02")
		case there && len(portal) > 0:
			fail("42P03")
		default:
			p.portals[string(portal)] = text
			say(wire.BackendBindComplete, "")
		}
	case wire.FrontendDescribe:
		what, name := wire.CutTarget(body)
		if what == wire.OfStatement {
			text, ok := p.find(string(name))
			switch {
			case !ok:
				fail("26000")
			case p.status == wire.StatusFailed && returnsRows(text):
				fail("25P02")
			default:
				say(wire.BackendParameterDescription, "\x00\x00")
				say(wire.BackendRowDescription, text)
			}
			return replies
		}
		switch text, ok := p.portals[string(name)]; {
		case !ok:
			fail("34000")
		case p.status == wire.StatusFailed && returnsRows(text):
			fail("25P02")
		default:
			say(wire.BackendRowDescription, text)
		}
	case wire.FrontendExecute:
		name, _ := wire.CutName(body)
		text, ok := p.portals[string(name)]
		switch {
		case !ok:
			fail("34000")
		case p.status == wire.StatusFailed && !leaves(text):
			fail("25P02")
		case text == finished:
			say(wire.BackendCommandComplete, "SELECT 0\x00")
		default:
			p.portals[string(name)] = finished
			p.run(text, say, fail)
		}
	case wire.FrontendClose:
		what, name := wire.CutTarget(body)
		key := string(name[:min(len(name), wire.NameBytes)])
		switch {
		case what == wire.OfPortal:
			delete(p.portals, key)
		case key == "":
			p.unnamed = nil
		default:
			delete(p.named, key)
		}
		say(wire.BackendCloseComplete, "")
	}
	return replies
}

// Texts of the model's statements.
const (
	oursText    = "SELECT next_snowflake()"
	badText     = "bad"                        // cannot be parsed
	failText    = "SELECT 1/0"                 // fails as it runs
	wipeText    = "DEALLOCATE ALL"             // its tag says so
	slyText     = "DO 'wipe and fail'"         // deallocates all, and fails
	undecodable = "SELECT '\xff'"              // PostgreSQL cannot read it
	finished    = "finished"                   // a portal that was executed
	twoText     = "DEALLOCATE ALL; SELECT 1/0" // only the first of the two succeeds
)

func leaves(text string) bool      { return text == "COMMIT" || text == "ROLLBACK" }
func returnsRows(text string) bool { return strings.HasPrefix(text, "SELECT") || text == finished }

func (p *postgres) has(name string) bool { _, ok := p.named[name]; return ok }

func (p *postgres) find(name string) (string, bool) {
	if name == "" {
		if p.unnamed == nil {
			return "", false
		}
		return *p.unnamed, true
	}
	text, ok := p.named[name[:min(len(name), wire.NameBytes)]]
	return text, ok
}

// refuses is the error that refuses a text before it runs.
func (p *postgres) refuses(text string) string {
	switch {
	case text == undecodable:
		return "22021"
	case text == badText:
		return "42601"
	case p.status == wire.StatusFailed && !leaves(text) && text != "":
		return "25P02"
	}
	return ""
}

func (p *postgres) run(text string, say func(byte, string), fail func(string)) {
	switch text {
	case oursText:
		p.ids++
		say(wire.BackendDataRow, "an ID")
		say(wire.BackendCommandComplete, "SELECT 1\x00")
	case failText:
		fail("22012")
	case slyText, twoText:
		clear(p.named)
		fail("22012")
	case wipeText:
		clear(p.named)
		say(wire.BackendCommandComplete, "DEALLOCATE ALL\x00")
	case "BEGIN":
		p.block = true
		if p.status == wire.StatusIdle {
			p.status = wire.StatusTransaction
		}
		say(wire.BackendCommandComplete, "BEGIN\x00")
	case "COMMIT", "ROLLBACK":
		p.block, p.status = false, wire.StatusIdle
		clear(p.portals)
		say(wire.BackendCommandComplete, text+"\x00")
	default:
		say(wire.BackendDataRow, text)
		say(wire.BackendCommandComplete, "SELECT 1\x00")
	}
}

// ends ends a batch. Outside a block, that ends the transaction and its portals.
func (p *postgres) ends() {
	if !p.block {
		p.status = wire.StatusIdle
		clear(p.portals)
	}
}
