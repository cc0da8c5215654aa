package proxy

import (
	"testing"
	"time"
)

func TestAWaitIsBlindOnlyWhereItIsTheOtherSidesTurn(t *testing.T) {
	r := newRigBeforeStartup(t, &counter{})
	r.looks(time.Hour)
	r.upstream = r.starts(r.client)
	r.relays(query("SELECT 1"), join(complete("SELECT 1"), ready('I')))
	r.becomes("both", func(client, upstream bool) bool { return client && upstream })
	r.send(parse("s", "SELECT 1"), flushIt)
	r.toUpstream(parse("s", "SELECT 1"), flushIt)
	r.reply(parseDone)
	r.toClient(parseDone)
	r.becomes("neither", func(client, upstream bool) bool { return !client && !upstream })
}
