package idserver

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/internal/frame"
	"pgflurry/proxy/internal/frontend"
)

func TestASessionWhoseClientSendsNothingForTooLongEnds(t *testing.T) {
	for name, begin := range map[string]string{"outside a transaction": "", "inside one": "BEGIN"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := testServer(t, &counter{})
				if err := v.Change(Rules{Method: Trust, IdleTimeout: time.Minute}); err != nil {
					t.Fatal(err)
				}
				client, far := net.Pipe()
				s, err := sessionOn(v, far)
				if err != nil {
					t.Fatal(err)
				}
				defer s.cancel()
				go func() { _, _ = io.Copy(io.Discard, client) }()
				var ended time.Time
				go func() {
					err = s.run()
					ended = time.Now()
				}()
				start := time.Now()
				for range 3 {
					time.Sleep(59 * time.Second)
					if _, err := client.Write(encoded(&pgproto3.Query{String: begin})); err != nil {
						t.Error(err)
					}
				}
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				if !errors.Is(err, errIdle) || ended.Sub(start) != 3*59*time.Second+time.Minute {
					t.Errorf("the session ended with %v after %v; expected %v a minute after its last message", err,
						ended.Sub(start), errIdle)
				}
				client.Close()
				far.Close()
			})
		})
	}
}

func TestASessionWhoseClientReadsNothingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, far := net.Pipe()
		s, err := sessionOn(testServer(t, &counter{}), far)
		if err != nil {
			t.Fatal(err)
		}
		defer s.cancel()
		ended := make(chan error)
		go func() { ended <- s.run() }()
		start := time.Now()
		if _, err := client.Write(encoded(&pgproto3.Query{String: "SELECT 1"})); err != nil {
			t.Fatal(err)
		}
		err = <-ended
		if took := time.Since(start); !errors.As(err, new(frame.WriteError)) || took > 2*unreadTime {
			t.Errorf("the session ended with %v after %v; expected that a write gave up within %v", err, took,
				2*unreadTime)
		}
		if why := s.Closed(); why != frontend.ClosedIdle {
			t.Errorf("it ended for the reason %q; expected %q", why, frontend.ClosedIdle)
		}
		client.Close()
		far.Close()
	})
}
