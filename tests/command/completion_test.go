//go:build full

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgflurry/tests/support/program"
	"pgflurry/tests/support/server"
)

// completed returns the words that pgflurry offers a shell behind these, without descriptions.
func completed(t *testing.T, words ...string) []string {
	t.Helper()
	e := run(t, append([]string{"__complete"}, words...)...)
	e.is(t, 0)
	var offered []string
	for line := range strings.Lines(e.out) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if !strings.HasPrefix(word, ":") {
			offered = append(offered, word)
		}
	}
	return offered
}

func TestAShellIsOfferedEachValueOfAFlagAndTheProgramTakesIt(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	for _, c := range []struct {
		flag    string
		command []string
		want    []string
	}{
		{"--log-level", []string{"serve"}, []string{"debug", "info", "warn", "error"}},
		{"--log-format", []string{"serve"}, []string{"text", "json"}},
		{"--client-tls", []string{"serve"}, []string{"disable", "allow", "require"}},
		{"--client-auth", []string{"serve"}, []string{"relay", "password"}},
		{"--upstream-tls", []string{"serve"}, []string{"disable", "prefer", "require", "verify-ca", "verify-full"}},
		{"--layout", []string{"migrate", "print"}, []string{"twitter", "datacenter", "javascript", "41/0/10/12"}},
		{"--layout", []string{"decode", "1"}, []string{"twitter", "datacenter", "javascript", "41/0/10/12"}},
	} {
		if got := completed(t, append(c.command, c.flag, "")...); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: a shell is offered %q, want %q", c.command, c.flag, got, c.want)
		}
		for _, value := range c.want {
			line := append(slices.Clone(c.command), c.flag, value)
			if c.command[0] == "serve" {
				line = append(line, "--check-config", "--upstream", "127.0.0.1:1", "--lease-database", url)
			}
			// A value may need further flags. It must not be an unknown value.
			if e := run(t, line...); e.code != 0 && strings.Contains(e.errs, "; expected "+c.want[0]) {
				t.Errorf("%s: exit code %d: %s", line, e.code, e.errs)
			}
		}
		line := append(slices.Clone(c.command), c.flag, "sideways")
		if e := run(t, line...); e.code != 2 || !strings.Contains(e.errs, "sideways") {
			t.Errorf("%s: exit code %d: %s", line, e.code, e.errs)
		}
	}
	if got := completed(t, "help", "wor"); !slices.Equal(got, []string{"workers"}) {
		t.Errorf("behind help a shell is offered %q", got)
	}
}

func TestBashOffersOnlyTheValuesThatBeginAsTyped(t *testing.T) {
	t.Parallel()
	script := `
_get_comp_words_by_ref() { cur=$CUR prev=--client-tls words=(pgflurry serve --client-tls "$CUR") cword=3; }
__ltrim_colon_completions() { :; }
compopt() { :; }
source <(pgflurry completion bash)
CUR=re COMP_LINE="pgflurry serve --client-tls re" COMP_POINT=30 COMP_TYPE=9
__start_pgflurry
printf '%s\n' "${COMPREPLY[@]}"`
	cmd := exec.Command("bash", "--norc", "-c", script)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program.Path(t))+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "require" {
		t.Errorf("%v; bash offers\n%s", err, out)
	}
}

func TestAnUnknownShellOrTopicIsAnError(t *testing.T) {
	t.Parallel()
	run(t, "completion", "tcsh").is(t, 2, `"tcsh" is no command of "pgflurry completion"`)
	run(t, "help", "serv").is(t, 2, `"serv" is no command of "pgflurry"`)
	run(t, "help", "workers", "lst").is(t, 2, `"lst" is no command of "pgflurry workers"`)
	direct, helped := run(t, "workers", "list", "--help"), run(t, "help", "workers", "list")
	if direct.out != helped.out || direct.code != 0 || helped.code != 0 {
		t.Errorf("help of a command is\n%s\nand its --help\n%s", helped.out, direct.out)
	}
}
