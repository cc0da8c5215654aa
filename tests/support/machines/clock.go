//go:build linux

package machines

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed libc/clock.c
var clockSource string

const clockLibrary = ground + "/clock.so"

// makeClockLibrary compiles the library once. Only one world at a time may call it.
func makeClockLibrary() error {
	if _, err := os.Stat(clockLibrary); err == nil {
		return nil
	}
	compiler := exec.Command("cc", "-shared", "-fPIC", "-O2", "-o", clockLibrary, "-x", "c", "-")
	compiler.Stdin = strings.NewReader(clockSource)
	if said, err := compiler.CombinedOutput(); err != nil {
		return fmt.Errorf("libc/clock.c does not compile: %w\n%s", err, said)
	}
	return nil
}

// clockFile is mapped by libc/clock.c. steerFile is read by a program with the tag steerclock.
func (m *Machine) clockFile() string { return filepath.Join(ground, "clock-"+m.name) }
func (m *Machine) steerFile() string { return filepath.Join(ground, "steer-"+m.name) }

// clockEnvironment returns variables that make a program follow the machine's clock.
func (m *Machine) clockEnvironment() []string {
	return []string{
		"LD_PRELOAD=" + clockLibrary, "PGFLURRY_TEST_MACHINE_CLOCK=" + m.clockFile(),
		"PGFLURRY_TEST_STEER_CLOCK=" + m.steerFile(),
	}
}

// SetClock sets the wall clock of the machine ahead of the world's clock; negative is behind. When it returns, all
// programs of the machine that use the C library see the step, also those that run already. pgflurry sees it within
// moments if it is built with the tag steerclock. Other programs in Go, such as etcd, do not see it. A crash does not
// change the clock.
func (m *Machine) SetClock(ahead time.Duration) {
	m.w.t.Helper()
	if err := m.setClock(ahead); err != nil {
		m.w.t.Fatalf("the clock of %s: %v", m.name, err)
	}
}

func (m *Machine) setClock(ahead time.Duration) error {
	steer, err := os.CreateTemp(ground, "steer")
	if err != nil {
		return err
	}
	defer steer.Close()
	if _, err := fmt.Fprintf(steer, "wall=%s", ahead); err != nil {
		return err
	}
	if err := steer.Chmod(0o644); err != nil {
		return err
	}
	if err := os.Rename(steer.Name(), m.steerFile()); err != nil {
		return err
	}
	// All processes have this page mapped, and one write changes all eight bytes. So nobody reads half a value.
	file, err := os.OpenFile(m.clockFile(), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead)), 0)
	return err
}
