package relay

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"pgflurry/tests/support/server"
)

// A session listens and draws IDs as fast as it can, and another session notifies it. Answers and notifications must
// come whole, and notifications in order. frame fails on a torn message.
func TestNotificationsComeWholeAmongThousandsOfAnswers(t *testing.T) {
	t.Parallel()
	const notifications, breath = 2000, 200
	direct := server.Migrated(t)
	at, p := through(t, direct)
	r := openURL(t, at)
	r.say(query("LISTEN flurry"))
	r.until('Z')
	var all atomic.Bool
	drawn := make(chan int, 1)
	go func() {
		questions := bytes.Repeat(query(ours), breath)
		breaths := 0
		for ; !all.Load(); breaths++ {
			if _, err := r.conn.Write(questions); err != nil {
				t.Error(err)
				break
			}
		}
		drawn <- breaths
		if _, err := r.conn.Write(query("")); err != nil { // the reply to this is the last
			t.Error(err)
		}
	}()
	go func() {
		// Each NOTIFY is a transaction of its own, so the notifications arrive one by one.
		_, err := server.Connect(t, direct).Exec(t.Context(), fmt.Sprintf(`DO $$ BEGIN
			FOR i IN 1..%d LOOP PERFORM pg_notify('flurry', i || repeat('-', i %% 300)); COMMIT; END LOOP;
			END $$`, notifications))
		if err != nil {
			t.Error(err)
		}
	}()
	seen, ready := 0, 0
	for over := false; !over; {
		kind, body, err := r.frame()
		if err != nil {
			t.Fatalf("after %d notifications and %d answers: %v", seen, ready, err)
		}
		switch kind {
		case 'Z':
			ready++
		case 'A':
			seen++
			payload := fmt.Sprintf("flurry\x00%d%s\x00", seen, strings.Repeat("-", seen%300))
			if string(body[4:]) != payload {
				t.Fatalf("notification %d is %q", seen, body[4:])
			}
			all.Store(seen == notifications)
		case 'I':
			over = true
		case 'T', 'D', 'C':
		default:
			t.Fatalf("message %q %q", kind, body)
		}
	}
	if asked := breath * <-drawn; ready != asked {
		t.Errorf("%d statements were asked and %d answered", asked, ready)
	}
	r.until('Z')
	if got := p.Stats().IDs; got != int64(ready) || seen != notifications {
		t.Errorf("%d notifications and %d answers came, %d IDs were given", seen, ready, got)
	}
}

func TestNoticesAndParametersComeInTheirPlaceAmongAnswers(t *testing.T) {
	t.Parallel()
	const rounds = 1000
	at, p := through(t, server.Migrated(t))
	r := openURL(t, at)
	go func() {
		for i := range rounds {
			b := append(query(ours), query(fmt.Sprintf("SET application_name = 'name %d'", i))...)
			b = append(append(b, query(ours)...),
				query(fmt.Sprintf("DO $$ BEGIN RAISE NOTICE 'notice %d'; END $$", i))...)
			if _, err := r.conn.Write(b); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for i := range rounds {
		r.until('Z')
		got := strings.Join(r.until('Z'), "|")
		if !strings.Contains(got, fmt.Sprintf("Sapplication_name\x00name %d\x00|Z", i)) {
			t.Fatalf("SET %d is answered %q", i, got)
		}
		r.until('Z')
		if got := strings.Join(r.until('Z'), "|"); !strings.Contains(got, fmt.Sprintf("Mnotice %d\x00", i)) {
			t.Fatalf("notice %d came as %q", i, got)
		}
	}
	if p.Stats().IDs == 0 {
		t.Error("no ID came from memory")
	}
}
