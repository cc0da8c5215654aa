//go:build linux

package server_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgflurry/tests/support/server"
)

// killed is set in a test package that is going to be killed.
const killed = "PGFLURRY_TEST_KILLED"

func TestAPackageThatIsKilledLeavesNoServerNoProgramAndNoFolder(t *testing.T) {
	if os.Getenv(killed) != "" {
		waitForTheEnd(t)
	}
	t.Parallel()
	victim := exec.CommandContext(server.Within(t), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	victim.Env = append(os.Environ(), killed+"=1")
	out, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	var mark string
	var paths []string
	for lines := bufio.NewScanner(out); mark == "" && lines.Scan(); {
		if _, found, is := strings.Cut(lines.Text(), "left: "); is {
			paths = strings.Fields(found)
			mark = "TMPDIR=" + paths[0]
		}
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	if mark == "" {
		t.Fatal("the package did not come up")
	}
	server.Until(t, func() error {
		left := programsWith(mark)
		for _, path := range paths {
			if _, err := os.Stat(path); err == nil {
				left = append(left, path)
			}
		}
		if len(left) > 0 {
			return fmt.Errorf("the package has left %v", left)
		}
		return nil
	})
}

// waitForTheEnd is what the killed package runs: a program that ends by no pipe, and a second cluster.
func waitForTheEnd(t *testing.T) {
	program := exec.Command("sleep", "600")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	aside := server.Private(t, nil)
	fmt.Println("left:", os.TempDir(), filepath.Dir(server.Cluster(t).Data), filepath.Dir(aside.Data))
	_ = program.Wait()
	t.Fatal("it was not killed")
}

// programsWith lists the programs whose environment has this line.
func programsWith(mark string) (found []string) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		if text, err := os.ReadFile(path); err == nil && strings.Contains("\x00"+string(text), "\x00"+mark+"\x00") {
			found = append(found, filepath.Dir(path))
		}
	}
	return found
}
