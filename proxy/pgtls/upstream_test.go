package pgtls

import (
	"errors"
	"net"
	"testing"
)

func TestAServerThatCanStartNoProcessIsNamedAsTheCause(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		_, _ = far.Read(make([]byte, len(request)))
		_, _ = far.Write([]byte("Ecould not fork new process for connection: out of processes\n\x00"))
		far.Close()
	}()
	negotiator, err := Upstream{Mode: Require}.ForHost("db")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := negotiator.Negotiate(t.Context(), near); !errors.Is(err, errRefuses) {
		t.Errorf("the cause is %v", err)
	}
}
