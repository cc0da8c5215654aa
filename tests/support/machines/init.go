//go:build linux

package machines

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Folders of the world.
const (
	ground      = "/run/machines" // the same path in the world and on all machines
	hostsFile   = ground + "/hosts"
	hostsBefore = ground + "/hosts.before" // the file outside the world
)

// beInit is PID 1 of the world. It runs the tests as its child and returns their exit code. It reaps all orphans. When
// it ends, the kernel ends all other processes of the world.
func beInit() int {
	signals := caught()
	stage := stageTests
	if err := furnish(); err != nil {
		if os.Getenv("PGFLURRY_TEST_HA") != "" {
			fmt.Fprintf(os.Stderr, "PGFLURRY_TEST_HA is set, but there can be no machines here: %v\n", err)
			return 1
		}
		stage = stageLacking + err.Error()
	}
	for name, value := range map[string]string{stageVariable: stage, "TMPDIR": ground + "/tmp"} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	tests, err := os.StartProcess("/proc/self/exe", os.Args, &os.ProcAttr{
		Env:   os.Environ(),
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "the tests do not start inside the world: %v\n", err)
		return 1
	}
	go passOn(signals, tests)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			fmt.Fprintf(os.Stderr, "PID 1 of the world has no child to wait for: %v\n", err)
			return 1
		case pid == tests.Pid:
			return codeOf(status)
		}
	}
}

// furnish makes the world's own folders, and its switch.
func furnish() error {
	unix.Umask(0o022) // all users may read what root makes here
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts cannot be private: %w", err)
	}
	if err := ownFolders(); err != nil {
		return err
	}
	if err := makeFolder(ground, 0o755); err != nil {
		return err
	}
	if err := makeFolder(ground+"/tmp", 0o777|os.ModeSticky); err != nil {
		return err
	}
	hosts, err := os.ReadFile("/etc/hosts")
	if err != nil {
		return err
	}
	for _, path := range []string{hostsBefore, hostsFile} {
		if err := os.WriteFile(path, hosts, 0o644); err != nil {
			return err
		}
	}
	if err := mount(hostsFile, "/etc/hosts", "", unix.MS_BIND, ""); err != nil {
		return err
	}
	return makeSwitch()
}

// ownFolders mounts the folders that each machine, and the world, has for itself. /run has empty copies of the folders
// that packages made there.
func ownFolders() error {
	if err := mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	if err := mount("tmpfs", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777"); err != nil {
		return err
	}
	packages, err := os.ReadDir("/run")
	if err != nil {
		return err
	}
	var folders []os.FileInfo
	for _, entry := range packages {
		if info, err := entry.Info(); err == nil && info.IsDir() && entry.Name() != filepath.Base(ground) {
			folders = append(folders, info)
		}
	}
	if err := mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return err
	}
	for _, like := range folders { // such as /run/postgresql
		if err := makeFolder(filepath.Join("/run", like.Name()), like.Mode()); err != nil {
			return err
		}
		owner := like.Sys().(*syscall.Stat_t)
		if err := os.Chown(filepath.Join("/run", like.Name()), int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	return nil
}

func mount(source, target, kind string, flags uintptr, options string) error {
	if err := unix.Mount(source, target, kind, flags, options); err != nil {
		return fmt.Errorf("%s cannot be mounted on %s: %w", source, target, err)
	}
	return nil
}

func makeFolder(path string, mode os.FileMode) error {
	if err := os.Mkdir(path, mode.Perm()); err != nil {
		return err
	}
	return os.Chmod(path, mode&(os.ModePerm|os.ModeSticky|os.ModeSetgid))
}

// beMachine is PID 1 of a machine. The tests write to its standard input when the machine has its network interface. It
// writes to its standard output that it is up. Then it reaps until it is killed.
func beMachine() int {
	if err := setUpMachine(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		return 1
	}
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	signal.Ignore(passed...)
	fmt.Println("up")
	for range children {
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
				break
			}
		}
	}
	return 0
}

func setUpMachine(name, address string) error {
	if err := unix.Sethostname([]byte(name)); err != nil {
		return err
	}
	shared, err := os.OpenFile(ground, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer shared.Close()
	through := fmt.Sprintf("/proc/self/fd/%d", shared.Fd()) // it stays reachable when the machine's own /run hides it
	if err := ownFolders(); err != nil {
		return err
	}
	if err := numberAnew(); err != nil {
		return err
	}
	if err := makeFolder(ground, 0o755); err != nil {
		return err
	}
	if err := mount(through, ground, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("the tests have given it no interface: %w", err)
	}
	return ipBatch("link set lo up", "addr add "+address+"/24 dev eth0", "link set eth0 up")
}

// numberAnew makes process numbers begin elsewhere after each boot. If they began with 2, a new process would soon have
// the number in a postmaster.pid from before the crash. PostgreSQL refuses to start while a process of that number
// lives. On a real machine with hundreds of processes that seldom happens.
func numberAnew() error {
	err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(1000+rand.IntN(20000))), 0o644)
	if errors.Is(err, os.ErrNotExist) { // this kernel cannot do it
		return nil
	}
	return err
}

// ipBatch runs ip with several commands.
func ipBatch(commands ...string) error {
	return feed(strings.Join(commands, "\n"), "ip", "-batch", "-")
}

// nft runs several commands of nft, all or none.
func nft(commands ...string) error { return feed(strings.Join(commands, "\n"), "nft", "-f", "-") }

func feed(input, program string, args ...string) error {
	command := exec.Command(program, args...)
	command.Stdin = strings.NewReader(input + "\n")
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%sof\n%s", program, err, said, input)
	}
	return nil
}
