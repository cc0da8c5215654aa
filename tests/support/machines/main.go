//go:build linux

package machines

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// stageVariable says which process of the world this one is. Outside the world it is not set.
const stageVariable = "PGFLURRY_TEST_WORLD"

// The stages. There is one more: "lacking: " with the name of what is lacking.
const (
	stageInit    = "init"    // PID 1 of the world
	stageTests   = "tests"   // its child, which runs the tests
	stageMachine = "machine" // PID 1 of a machine
	stageLacking = "lacking: "
)

// allNamespaces are the namespaces of the world, and of each machine in it.
const allNamespaces = syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC |
	syscall.CLONE_NEWUTS

// Main runs the tests of a package inside a private world, and exits.
func Main(m *testing.M) {
	Enter()
	os.Exit(m.Run())
}

// Enter returns in a process inside the world. It is for a package that has another Main:
//
//	func TestMain(m *testing.M) { machines.Enter(); server.Main(m) }
//
// The process outside waits for the one inside, and exits as it does. If a world cannot be made, Enter returns outside,
// and New skips the test.
func Enter() {
	switch stage := os.Getenv(stageVariable); {
	case stage == stageInit:
		os.Exit(beInit())
	case stage == stageMachine:
		os.Exit(beMachine())
	case stage == stageTests || strings.HasPrefix(stage, stageLacking):
		return
	}
	if lack := lacking(); lack != nil {
		lackOf(lack)
		return
	}
	code, err := outside()
	if err != nil {
		lackOf(err)
		return
	}
	os.Exit(code)
}

// lackOf ends the process with an error, or lets the tests skip.
func lackOf(err error) {
	if os.Getenv("PGFLURRY_TEST_HA") != "" {
		fmt.Fprintf(os.Stderr, "PGFLURRY_TEST_HA is set, but there can be no machines here: %v\n", err)
		os.Exit(1)
	}
	os.Setenv(stageVariable, stageLacking+err.Error())
}

// lacking checks what can be checked in advance.
func lacking() error {
	if os.Geteuid() != 0 {
		return errors.New("namespaces need root")
	}
	for program, of := range map[string]string{"ip": "iproute2", "nft": "nftables", "cc": "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is not installed (Debian's package %s)", program, of)
		}
	}
	return nil
}

// outside starts the world, passes signals on, and returns the world's exit code. An error means that the world did not
// start.
func outside() (int, error) {
	// The world ends when the thread ends that started it. So that thread must wait for the world.
	runtime.LockOSThread()
	signals := caught()
	defer signal.Stop(signals)
	world := exec.Command("/proc/self/exe", os.Args[1:]...)
	world.Args[0] = os.Args[0]
	world.Env = append(os.Environ(), stageVariable+"="+stageInit)
	world.Stdin, world.Stdout, world.Stderr = os.Stdin, os.Stdout, os.Stderr
	world.SysProcAttr = &syscall.SysProcAttr{Cloneflags: allNamespaces, Pdeathsig: syscall.SIGKILL}
	if err := world.Start(); err != nil {
		return 0, fmt.Errorf("no namespaces: %w", err)
	}
	go passOn(signals, world.Process)
	err := world.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return codeOf(world.ProcessState.Sys().(syscall.WaitStatus)), nil
}

// passed are the signals that end tests.
var passed = []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP}

// caught subscribes to those that nohup and the like do not block.
func caught() chan os.Signal {
	signals := make(chan os.Signal, 8)
	for _, each := range passed {
		if !signal.Ignored(each) {
			signal.Notify(signals, each)
		}
	}
	return signals
}

func passOn(signals <-chan os.Signal, to *os.Process) {
	for s := range signals {
		_ = to.Signal(s) // the process may have ended
	}
}

// codeOf returns the exit code that a shell reports for a status.
func codeOf(status syscall.WaitStatus) int {
	if status.Signaled() {
		return 128 + int(status.Signal())
	}
	return status.ExitStatus()
}
