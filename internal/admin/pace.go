package admin

import (
	"net/http"
	"time"
)

// requestEvery is the time between two requests that the server begins to answer, except probes. A page of many workers
// takes milliseconds of a processor. Those who give IDs need it more than 60 browsers that ask in a loop.
const requestEvery = 10 * time.Millisecond

// pace lets requests begin one after the other. A client that leaves gives up its turn. So nobody waits for more than
// all connections that are open.
type pace struct {
	turn chan time.Time // has one element: when the last request began; empty while somebody waits with the turn
}

func newPace() *pace {
	p := &pace{turn: make(chan time.Time, 1)}
	p.turn <- time.Time{}
	return p
}

// wait waits for its turn; false: the client has left.
func (p *pace) wait(r *http.Request) bool {
	var last time.Time
	select {
	case last = <-p.turn:
	case <-r.Context().Done():
		return false
	}
	defer func() { p.turn <- last }()
	timer := time.NewTimer(requestEvery - time.Since(last))
	defer timer.Stop()
	select {
	case last = <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}

// paced passes requests on at a pace.
func (p *pace) paced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.wait(r) {
			next.ServeHTTP(w, r)
		}
	})
}
