package command

import (
	"bufio"
	"os/exec"
	"strings"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestACommandThatTakesLongSaysWhatItDoesOnATerminalAndNothingElsewhere(t *testing.T) {
	t.Parallel()
	url := server.Migrated(t)
	conn := server.Connect(t, url)
	server.Do(t, conn, "SELECT pg_advisory_lock(x'7067666c75727279'::bigint)")
	up := []string{program.Path(t), "migrate", "up", "--database", url}
	elsewhere := program.StartCommand(t, exec.Command(up[0], up[1:]...))
	terminal := exec.Command("script", "--quiet", "--return", "--flush", "--command",
		"'"+strings.Join(up, "' '")+"'", "/dev/null")
	out, err := terminal.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := terminal.Start(); err != nil {
		t.Fatalf("script, which makes a terminal: %v", err)
	}
	said := bufio.NewReader(out)
	for line := ""; !strings.Contains(line, "waiting for other migrations of this database"); {
		part, err := said.ReadString('\r')
		if line += part; err != nil {
			t.Fatalf("%v, and the terminal shows %q", err, line)
		}
	}
	if text := elsewhere.Output(); text != "" {
		t.Errorf("without a terminal it says %q", text)
	}
	server.Do(t, conn, "SELECT pg_advisory_unlock_all()")
	if _, err := said.WriteTo(new(strings.Builder)); err != nil {
		t.Error(err)
	}
	if err := terminal.Wait(); err != nil || elsewhere.End() != 0 {
		t.Errorf("up on a terminal: %v; elsewhere: %s", err, elsewhere.Output())
	}
}
