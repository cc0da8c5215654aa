package command

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

func TestDecodeSaysOnceWhichLayoutItAssumes(t *testing.T) {
	t.Parallel()
	const assumed = "assuming layout 41/0/10/12, epoch 2024-01-01T00:00:00.000Z, unit 1ms; " +
		"--database URL takes those of a namespace\n"
	if e := run(t, "decode", "330678927360028672", "330678927360028673"); e.code != 0 || e.errs != assumed {
		t.Errorf("exit code %d; on standard error it says\n%s", e.code, e.errs)
	}
	e := run(t, "decode", "9007199254740991", "--layout", "javascript")
	if e.code != 0 || !strings.Contains(e.errs, "assuming layout 41/0/6/6, epoch 2024-01-01") {
		t.Errorf("with a layout alone it says\n%s", e.errs)
	}
	for _, told := range [][]string{
		{"--database", server.Migrated(t)},
		{"--layout", "41/0/10/12", "--epoch", "2025-01-01T00:00:00Z", "--unit", "1ms"},
	} {
		if e := run(t, append([]string{"decode", "330678927360028672"}, told...)...); e.code != 0 || e.errs != "" {
			t.Errorf("decode %s: exit code %d, on standard error it says\n%s", told, e.code, e.errs)
		}
	}
}

func TestASignalEndsDecodeWhileItWaitsForStandardInput(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(program.Path(t), "decode", "-")
	in, err := cmd.StdinPipe() // stays open and empty: decode must not wait for it
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p := program.StartCommand(t, cmd)
	p.Line("assuming layout")
	p.Signal(syscall.SIGINT)
	if code := p.End(); code != 1 {
		t.Errorf("exit code %d", code)
	}
	p.Line("pgflurry: stopped by signal: interrupt")
}
