//go:build linux

package machines

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Machine is a host with its own namespaces.
type Machine struct {
	w      *World
	name   string
	number int // the last part of its address

	mu    sync.Mutex
	init  *exec.Cmd // its PID 1; nil while the machine is off
	pidfd int       // of init
}

// Name is its host name.
func (m *Machine) Name() string { return m.name }

// Address is its address in the network of the world.
func (m *Machine) Address() string { return fmt.Sprintf("10.93.0.%d", m.number) }

// boot gives the machine its namespaces and its cable, unless it is on.
func (m *Machine) boot() {
	m.w.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.init != nil {
		return
	}
	if err := m.begin(); err != nil {
		m.powerOff()
		m.w.t.Fatalf("%s does not boot: %v", m.name, err)
	}
}

func (m *Machine) begin() error {
	init := exec.Command("/proc/self/exe", m.name, m.Address())
	init.Env = append(os.Environ(), stageVariable+"="+stageMachine)
	init.SysProcAttr = &syscall.SysProcAttr{Cloneflags: allNamespaces, PidFD: &m.pidfd}
	var complaint strings.Builder
	init.Stderr = &complaint
	in, err := init.StdinPipe()
	if err != nil {
		return err
	}
	out, err := init.StdoutPipe()
	if err != nil {
		return err
	}
	if err := init.Start(); err != nil {
		return err
	}
	m.init = init
	if err := m.connect(); err != nil {
		return err
	}
	if _, err := in.Write([]byte{'\n'}); err != nil {
		return err
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		_ = init.Wait() // it may print a complaint until it has ended
		return fmt.Errorf("it says %q (%v): %s", line, err, complaint.String())
	}
	return nil
}

// connect lays the cable. Its end at the switch has the machine's name.
func (m *Machine) connect() error {
	return ipBatch(
		"link add "+m.name+" type veth peer name eth0 address "+hardware(m.number)+
			" netns "+strconv.Itoa(m.init.Process.Pid),
		"link set "+m.name+" master switch up")
}

// Crash cuts the power: all processes end at once, and no peer hears of it. The next Start boots the machine.
func (m *Machine) Crash() {
	m.w.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.init == nil {
		return
	}
	m.unplug() // else the kernel would close the connections of killed processes
	m.powerOff()
	m.disconnect()
	m.plug()
}

// powerOff kills PID 1, and with it the kernel kills all others. It returns when they are gone.
func (m *Machine) powerOff() {
	if m.init == nil {
		return
	}
	_ = m.init.Process.Kill() // it may have ended by itself
	_ = m.init.Wait()
	unix.Close(m.pidfd)
	m.init = nil
}

// disconnect removes the cable. The kernel would do so some time after the last process has ended.
func (m *Machine) disconnect() {
	m.w.t.Helper()
	err := ipBatch("link del " + m.name)
	if _, gone := net.InterfaceByName(m.name); err != nil && gone == nil {
		m.w.t.Fatal(err)
	}
}

// inside runs a function on a thread in the machine's namespaces. A process that the function starts belongs to the
// machine.
func (m *Machine) inside(act func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.init == nil {
		return fmt.Errorf("%s has crashed", m.name)
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		done <- func() error {
			if err := unix.Unshare(unix.CLONE_FS); err != nil { // a root and a working folder of its own
				return err
			}
			if err := unix.Setns(m.pidfd, allNamespaces); err != nil {
				return fmt.Errorf("the namespaces of %s: %w", m.name, err)
			}
			return act()
		}()
	}()
	return <-done
}
