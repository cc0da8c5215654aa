package proxy

import (
	"fmt"
	"strings"
)

// postgres is a model of a PostgreSQL session as far as the conversation has to understand it: what is prepared, what
// is bound, what fails, and what is skipped. It takes whole messages and says what a server would.
type postgres struct {
	named    map[string]string
	unnamed  *string
	portals  map[string]string // the text of each; finished ones too
	status   byte
	skipping bool // to the Sync
	block    bool
	ids      int
}

func newPostgres() *postgres {
	return &postgres{named: map[string]string{}, portals: map[string]string{}, status: statusIdle}
}

// said is one message of a server.
type said struct {
	kind byte
	body string
}

func (m said) String() string { return fmt.Sprintf("%c%.40q", m.kind, m.body) }

// take takes a message of the client.
func (p *postgres) take(kind byte, body []byte) (replies []said) {
	say := func(kind byte, body string) { replies = append(replies, said{kind, body}) }
	fail := func(code string) {
		say(backendErrorResponse, "SERROR\x00VERROR\x00C"+code+"\x00\x00")
		if p.block {
			p.status = statusFailed
		}
		p.skipping = kind != frontendQuery && kind != frontendSync && kind != frontendFunctionCall
	}
	if p.skipping && kind != frontendSync {
		return nil
	}
	switch kind {
	case frontendSync:
		p.skipping = false
		p.ends()
		say(backendReadyForQuery, string(p.status))
	case frontendFunctionCall: // of a function that deallocates
		clear(p.named)
		p.ends()
		say(backendReadyForQuery, string(p.status))
	case frontendFlush:
		if len(body) > 0 {
			fail("08P01")
		}
	case frontendQuery:
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
		say(backendReadyForQuery, string(p.status))
	case frontendParse:
		name, rest := cutName(body)
		text, _ := cutName(rest)
		key := string(name[:min(len(name), nameBytes)])
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
		say(backendParseComplete, "")
	case frontendBind:
		portal, rest := cutName(body)
		name, _ := cutName(rest)
		text, ok := p.find(string(name))
		switch _, there := p.portals[string(portal)]; {
		case !ok:
			fail("26000")
		case p.status == statusFailed && !leaves(text):
			fail("25P02")
		case there && len(portal) > 0:
			fail("42P03")
		default:
			p.portals[string(portal)] = text
			say(backendBindComplete, "")
		}
	case frontendDescribe:
		what, name := cutTarget(body)
		if what == ofStatement {
			text, ok := p.find(string(name))
			switch {
			case !ok:
				fail("26000")
			case p.status == statusFailed && returnsRows(text):
				fail("25P02")
			default:
				say(backendParameterDescription, "\x00\x00")
				say(backendRowDescription, text)
			}
			return replies
		}
		switch text, ok := p.portals[string(name)]; {
		case !ok:
			fail("34000")
		case p.status == statusFailed && returnsRows(text):
			fail("25P02")
		default:
			say(backendRowDescription, text)
		}
	case frontendExecute:
		name, _ := cutName(body)
		text, ok := p.portals[string(name)]
		switch {
		case !ok:
			fail("34000")
		case p.status == statusFailed && !leaves(text):
			fail("25P02")
		case text == finished:
			say(backendCommandComplete, "SELECT 0\x00")
		default:
			p.portals[string(name)] = finished
			p.run(text, say, fail)
		}
	case frontendClose:
		what, name := cutTarget(body)
		key := string(name[:min(len(name), nameBytes)])
		switch {
		case what == ofPortal:
			delete(p.portals, key)
		case key == "":
			p.unnamed = nil
		default:
			delete(p.named, key)
		}
		say(backendCloseComplete, "")
	}
	return replies
}

// What the model's statements are.
const (
	oursText    = "SELECT next_snowflake()"
	badText     = "bad"                        // cannot be parsed
	failText    = "SELECT 1/0"                 // fails as it runs
	wipeText    = "DEALLOCATE ALL"             // and says so
	slyText     = "DO 'wipe and fail'"         // deallocates all, and fails
	undecodable = "SELECT '\xff'"              // PostgreSQL cannot read it
	finished    = "finished"                   // a portal that was executed
	twoText     = "DEALLOCATE ALL; SELECT 1/0" // the first of two is done
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
	text, ok := p.named[name[:min(len(name), nameBytes)]]
	return text, ok
}

// refuses says with which error a text is refused before it runs.
func (p *postgres) refuses(text string) string {
	switch {
	case text == undecodable:
		return "22021"
	case text == badText:
		return "42601"
	case p.status == statusFailed && !leaves(text) && text != "":
		return "25P02"
	}
	return ""
}

func (p *postgres) run(text string, say func(byte, string), fail func(string)) {
	switch text {
	case oursText:
		p.ids++
		say(backendDataRow, "an ID")
		say(backendCommandComplete, "SELECT 1\x00")
	case failText:
		fail("22012")
	case slyText, twoText:
		clear(p.named)
		fail("22012")
	case wipeText:
		clear(p.named)
		say(backendCommandComplete, "DEALLOCATE ALL\x00")
	case "BEGIN":
		p.block = true
		if p.status == statusIdle {
			p.status = statusTransaction
		}
		say(backendCommandComplete, "BEGIN\x00")
	case "COMMIT", "ROLLBACK":
		p.block, p.status = false, statusIdle
		clear(p.portals)
		say(backendCommandComplete, text+"\x00")
	default:
		say(backendDataRow, text)
		say(backendCommandComplete, "SELECT 1\x00")
	}
}

// ends is the end of a batch: outside a block, of the transaction and its portals.
func (p *postgres) ends() {
	if !p.block {
		p.status = statusIdle
		clear(p.portals)
	}
}
