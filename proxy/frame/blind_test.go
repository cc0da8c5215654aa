package frame

import (
	"errors"
	"testing"
)

func TestACloseIsNoticedWhileBytesKeepComing(t *testing.T) {
	conn, peer := pair(t)
	in, takes := NewInbox(conn, NewBuffers()), 0
	never := errors.New("it goes on reading")
	closed := make(chan struct{})
	refused, gone := in.Each(func() error {
		in.Drop(len(in.Unread()))
		if takes++; takes == 10 {
			go func() {
				conn.Close()
				close(closed)
			}()
		}
		if takes > 1_000_000 {
			return never
		}
		_, err := peer.Write([]byte{0}) // so that the next read finds something
		return err
	})
	<-closed
	if errors.Is(refused, never) || (refused == nil && gone == nil) {
		t.Errorf("after %d reads: %v, %v; expected that the connection is closed", takes, refused, gone)
	}
}
