//go:build full

package product

import (
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestDemoAnswersOperatorsElsewhereWhereTheUsualPortIsTaken(t *testing.T) {
	const usual = "127.0.0.1:6533"
	if taken, err := net.Listen("tcp", usual); err == nil { // else somebody else has the port already
		defer taken.Close()
	}
	d := launch(t, filepath.Join(server.PublicDir(t), "data")).ready()
	page := strings.TrimSpace(d.Line("    http://127.0.0.1:"))
	if strings.Contains(page, usual) {
		t.Fatalf("the demo says that operators are answered at %s, which is taken", page)
	}
	response, err := http.Get(page + "readyz")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("%sreadyz: %s", page, response.Status)
	}
	d.interrupt(t)
	if code := d.End(); code != 0 {
		t.Errorf("Ctrl-C ends the demo with %d, expected 0:\n%s", code, d.Output())
	}
	d.leavesNothing(t)
}

func TestDemoNamesTheAdminListenerThatItWasGivenAndThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	address := taken.Addr().String()
	p := program.Start(t, "demo", "--listen", "127.0.0.1:0", "--admin-listen", address,
		"--data", filepath.Join(server.PublicDir(t), "data"))
	if code := p.End(); code != 1 {
		t.Errorf("the demo ends with %d, expected 1", code)
	}
	p.Line("--admin-listen "+address, "address already in use")
}
