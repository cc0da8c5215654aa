package admin

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRequestsBeginAtAPaceAndWhoLeavesGivesUpItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun []time.Time
		handler := newPace().paced(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			begun = append(begun, time.Now())
		}))
		ask := func(ctx context.Context) {
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
		}
		first := time.Now()
		ask(t.Context())
		leaving, leave := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		asking.Go(func() { ask(leaving) })
		synctest.Wait()
		asking.Go(func() { ask(t.Context()) })
		synctest.Wait()
		leave()
		asking.Wait()
		if len(begun) != 2 || begun[0] != first || begun[1] != first.Add(requestEvery) {
			t.Errorf("requests began at %v; expected one at %v, and one %v later", begun, first, requestEvery)
		}
	})
}
