// Command profile runs "go test" with the given arguments, and then prints what took how long. Of each package it says
// the seconds and the processor seconds. What the test binary has started and waited for counts as well, such as
// servers. Of the tests it names the 40 slowest.
//
//	go run ./tests/profile ./...
//	go run ./tests/profile -tags full ./tests/database
//
// The exit code is that of "go test". What failed is printed as it happens.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	slowest = 40 // tests that are printed
	// measured names a file. With it the program is what -exec runs: it runs a test binary and measures it.
	measured = "TEST_PROFILE_MEASURES"
)

func main() {
	var code int
	var err error
	if file := os.Getenv(measured); file != "" {
		code, err = measure(file, os.Args[1:])
	} else {
		code, err = profile(os.Args[1:], os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// cost is what one test binary took.
type cost struct {
	Package   string // its folder, as go test runs it there
	Wall, CPU time.Duration
}

// measure runs a test binary, and adds what it took to the file.
func measure(file string, command []string) (code int, err error) {
	run := exec.Command(command[0], command[1:]...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
	began := time.Now()
	if err := run.Run(); err != nil && run.ProcessState == nil {
		return 1, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	state := run.ProcessState
	line, err := json.Marshal(cost{folder, time.Since(began), state.UserTime() + state.SystemTime()})
	if err != nil {
		return 1, err
	}
	out, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return 1, err
	}
	_, err = out.Write(append(line, '\n'))
	return state.ExitCode(), cmp.Or(err, out.Close())
}

// event is a line of "go test -json".
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

func profile(args []string, w io.Writer) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	file, err := os.CreateTemp("", "pgflurry-profile-")
	if err != nil {
		return 1, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	began := time.Now()
	test := exec.Command("go", append([]string{"test", "-json", "-count=1", "-exec", self}, args...)...)
	test.Env, test.Stderr = append(os.Environ(), measured+"="+file.Name()), os.Stderr
	out, err := test.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := test.Start(); err != nil {
		return 1, err
	}
	tests, err := follow(out, w)
	if err != nil {
		return 1, err
	}
	_ = test.Wait() // its state has the exit code
	wall := time.Since(began)
	costs, err := read(file)
	if err != nil {
		return 1, err
	}
	print(w, costs, tests, wall)
	return test.ProcessState.ExitCode(), nil
}

// follow reads the events, prints the output of what failed, and returns the tests.
func follow(events io.Reader, w io.Writer) (tests []event, err error) {
	outputs := map[string]*strings.Builder{}
	lines := bufio.NewScanner(events)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(w, lines.Text()) // of the build
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			if outputs[key] == nil {
				outputs[key] = new(strings.Builder)
			}
			outputs[key].WriteString(e.Output)
		case "pass", "fail", "skip":
			if said := outputs[key]; e.Action == "fail" && said != nil {
				fmt.Fprint(w, said)
			}
			delete(outputs, key)
			if e.Test != "" && !strings.Contains(e.Test, "/") {
				tests = append(tests, e)
			}
		}
	}
	return tests, lines.Err()
}

func read(file *os.File) (costs []cost, err error) {
	for from := json.NewDecoder(file); ; {
		var c cost
		switch err := from.Decode(&c); err {
		case nil:
			costs = append(costs, c)
		case io.EOF:
			return costs, nil
		default:
			return nil, err
		}
	}
}

func print(w io.Writer, costs []cost, tests []event, wall time.Duration) {
	here, _ := os.Getwd()
	slices.SortFunc(costs, func(a, b cost) int { return cmp.Compare(b.Wall, a.Wall) })
	slices.SortFunc(tests, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	var sum cost
	fmt.Fprintf(w, "\n%9s %9s  package\n", "wall, s", "CPU, s")
	for _, c := range costs {
		name, err := filepath.Rel(here, c.Package)
		if err != nil {
			name = c.Package
		}
		fmt.Fprintf(w, "%9.1f %9.1f  %s\n", c.Wall.Seconds(), c.CPU.Seconds(), name)
		sum.Wall, sum.CPU = sum.Wall+c.Wall, sum.CPU+c.CPU
	}
	fmt.Fprintf(w, "%9.1f %9.1f  %d test binaries, one after the other\n", sum.Wall.Seconds(), sum.CPU.Seconds(),
		len(costs))
	fmt.Fprintf(w, "\n%9s  the slowest of %d tests\n", "s", len(tests))
	for _, t := range tests[:min(slowest, len(tests))] {
		fmt.Fprintf(w, "%9.1f  %s %s\n", t.Elapsed, t.Package, t.Test)
	}
	fmt.Fprintf(w, "\n%.0f s in all, with compiling and linking\n", wall.Seconds())
}
