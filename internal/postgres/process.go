package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// portTries is how often to choose another free port if a program has taken the chosen one meanwhile.
const portTries = 5

// errPortTaken: the server ended because its port was in use.
var errPortTaken = errors.New("port taken")

// process is a server that runs as a child of this process.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when the server has ended
	cleanup func()        // runs when the server has ended
}

func startProcess(ctx context.Context, s Settings) (*Cluster, error) {
	data, err := filepath.Abs(s.Data)
	if err != nil {
		return nil, fmt.Errorf("data folder %s: %w", s.Data, err)
	}
	s.Data = data
	who, err := serverAccount(s.Data)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		cluster, err := attempt(ctx, s, who)
		if errors.Is(err, errPortTaken) && s.Port == 0 && try < portTries {
			continue
		}
		return cluster, err
	}
}

// attempt takes the lock and starts the server. The cluster holds the lock until the server has ended.
func attempt(ctx context.Context, s Settings, who account) (*Cluster, error) {
	if err := makeParents(s.Data); err != nil {
		return nil, err
	}
	unlock, err := lock(s.Data)
	if err != nil {
		return nil, err
	}
	cluster, err := prepareAndLaunch(ctx, s, who, unlock)
	if err != nil {
		unlock()
		return nil, err
	}
	return cluster, nil
}

func prepareAndLaunch(ctx context.Context, s Settings, who account, unlock func()) (*Cluster, error) {
	if err := prepare(ctx, s, who); err != nil {
		return nil, err
	}
	if err := checkPidFile(s.Data); err != nil {
		return nil, err
	}
	hba := filepath.Join(s.Data, "pg_hba.conf")
	if err := errors.Join(os.WriteFile(hba, []byte(s.HBA), 0o600), who.give(hba)); err != nil {
		return nil, fmt.Errorf("the server's access rules cannot be written: %w", err)
	}
	return launch(ctx, s, who, unlock)
}

// launch starts the server once and waits until it is ready. After an error nothing is left running.
func launch(ctx context.Context, s Settings, who account, unlock func()) (*Cluster, error) {
	port, err := FreePort(s.Port)
	if err != nil {
		return nil, err
	}
	sockets, removeSockets, err := socketDir(s.Data, who)
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		removeSockets()
		return nil, fmt.Errorf("the server's log cannot be written: %w", err)
	}
	defer log.Close() // the server has its own descriptor
	begin, err := log.Seek(0, 2)
	if err != nil {
		removeSockets()
		return nil, fmt.Errorf("the server's log cannot be written: %w", err)
	}
	command := exec.Command(s.Binaries.path("postgres"), serverArgs(s, port, sockets)...)
	command.Dir, command.Env, command.SysProcAttr = "/", environment(), attributes(who)
	command.Stdout, command.Stderr = log, log
	p := &process{command: command, ended: make(chan struct{}), cleanup: func() { removeSockets(); unlock() }}
	s.Progress(fmt.Sprintf("starting PostgreSQL on port %d", port))
	if err := p.run(); err != nil {
		removeSockets()
		return nil, fmt.Errorf("%s does not start: %w", s.Binaries, err)
	}
	if err := p.ready(ctx, s.Data); err != nil {
		said := logTail(s.Log, begin)
		if strings.Contains(said, "could not bind") || strings.Contains(said, "Address already in use") {
			err = fmt.Errorf("port %d: %w", port, errPortTaken)
		}
		stopping, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("%s did not become ready: %w; %s", s.Binaries, err, said), p.stop(stopping))
	}
	return &Cluster{
		Port: port, SocketDir: sockets, Data: s.Data, Log: s.Log, PID: command.Process.Pid,
		user: s.User, password: s.Password, runner: p,
	}, nil
}

// serverArgs puts what this package needs last, because the last -c wins.
func serverArgs(s Settings, port int, sockets string) []string {
	args := []string{"-D", s.Data}
	for _, name := range slices.Sorted(maps.Keys(s.Options)) {
		args = append(args, "-c", name+"="+s.Options[name])
	}
	return append(args,
		"-c", "listen_addresses=127.0.0.1", "-c", "port="+strconv.Itoa(port), "-c", "unix_socket_directories="+sockets,
		"-c", "hba_file="+filepath.Join(s.Data, "pg_hba.conf"), "-c", "logging_collector=off",
		"-c", "log_destination=stderr")
}

// FreePort returns port if it is free. For 0 it returns any free port.
func FreePort(port int) (int, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0, fmt.Errorf("PostgreSQL cannot have port %d: %w", port, err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// run starts the server on a thread of its own, and keeps that thread until the server has ended. The kernel sends the
// parent death signal when the thread that started the child ends, not only at the end of the process.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		started <- err
		if err != nil {
			return
		}
		_ = p.command.Wait() // its log says how it ended
		p.cleanup()
		close(p.ended)
	}()
	return <-started
}

// ready waits for the word "ready", which the server writes into the eighth line of postmaster.pid.
func (p *process) ready(ctx context.Context, data string) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		pid, status := readPidFile(data)
		if pid == p.command.Process.Pid && status == "ready" {
			return nil
		}
		select {
		case <-ticker.C:
		case <-p.ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (p *process) done() <-chan struct{} { return p.ended }

// stop asks for a fast shutdown (SIGINT). At the end of ctx it asks for an immediate one (SIGQUIT), and 5 s later it
// kills.
func (p *process) stop(ctx context.Context) error {
	_ = p.command.Process.Signal(syscall.SIGINT) // an error means that it has ended, which the wait below sees
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
	}
	_ = p.command.Process.Signal(syscall.SIGQUIT)
	patience := time.NewTimer(5 * time.Second)
	defer patience.Stop()
	select {
	case <-p.ended:
		return nil
	case <-patience.C:
	}
	_ = p.command.Process.Kill()
	<-p.ended
	return fmt.Errorf("the server (process %d) did not stop when asked, so it was killed", p.command.Process.Pid)
}
