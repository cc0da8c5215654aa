package driver

import (
	"bufio"
	"strings"
	"testing"
)

// Replies as the servers send them.
const (
	row   = "D\x00\x00\x00\x0f\x00\x01\x00\x00\x00\x05" + "12345"
	tag   = "C\x00\x00\x00\x0d" + "SELECT 1\x00"
	ready = "Z\x00\x00\x00\x05I"
)

func TestAReplyThatHoldsNoIDIsAnError(t *testing.T) {
	for reply, want := range map[string]string{
		"2\x00\x00\x00\x04" + row + tag + ready: "", row + tag: "EOF", tag + ready: "0 came",
		row + row + tag + ready: "2 came",
		"E\x00\x00\x00\x17SERROR\x00C22012\x00Mno\x00\x00" + ready: "22012",
	} {
		if err := oneRow(bufio.NewReader(strings.NewReader(reply))); (err == nil) != (want == "") ||
			err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v; expected %q", reply, err, want)
		}
	}
	for reply, fine := range map[string]bool{":12\r\n": true, "-ERR no\r\n": false, ":1": false} {
		if err := oneInteger(bufio.NewReader(strings.NewReader(reply))); (err == nil) != fine {
			t.Errorf("%q: error %v", reply, err)
		}
	}
}
