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

// makeClockLibrary is for one world after the other.
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

// clockFile is what libc/clock.c maps, and steerFile what a program with the tag steerclock reads.
func (m *Machine) clockFile() string { return filepath.Join(ground, "clock-"+m.name) }
func (m *Machine) steerFile() string { return filepath.Join(ground, "steer-"+m.name) }

// clockEnvironment lets a program follow the machine's clock.
func (m *Machine) clockEnvironment() []string {
	return []string{
		"LD_PRELOAD=" + clockLibrary, "PGFLURRY_TEST_MACHINE_CLOCK=" + m.clockFile(),
		"PGFLURRY_TEST_STEER_CLOCK=" + m.steerFile(),
	}
}

// SetClock sets the wall clock of the machine, so far ahead of the world's; negative: behind. When it returns, all
// programs of the machine see it that use the C library, those that run included. pgflurry sees it within moments if it
// is built with the tag steerclock. Other programs in Go, such as etcd, do not see it. A crash does not change it.
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
	// One write of eight bytes into the page that all have mapped; nobody reads half of it.
	file, err := os.OpenFile(m.clockFile(), os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(ahead)), 0)
	return err
}
