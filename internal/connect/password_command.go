package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"time"
)

const (
	// programTime is how long a program may take to write a password.
	programTime = 10 * time.Second
	// longestOutput limits what it may write, in bytes. A token of a cloud has up to some thousand.
	longestOutput = 64 << 10
	// longestLine is how much of its standard error the log gets, in bytes.
	longestLine = 1 << 10
)

// PasswordCommand is a program that writes a password: of a cloud, a vault, or what else makes passwords that soon end.
// The first line of its output is the password. A second line may say for how long the password is kept, such as 10m;
// without it, every connection runs the program. Its methods are safe for concurrent use.
type PasswordCommand struct {
	command string
	log     *slog.Logger
	now     func() time.Time
	busy    chan struct{} // holds one value while somebody runs the program, or reads the fields below
	last    string
	until   time.Time
}

// NewPasswordCommand takes a command line for sh, as PostgreSQL's ssl_passphrase_command does. It runs nothing yet. log
// gets what the program writes to standard error.
func NewPasswordCommand(command string, log *slog.Logger) *PasswordCommand {
	return &PasswordCommand{command: command, log: log, now: time.Now, busy: make(chan struct{}, 1)}
}

// Password is the one that is kept, or that of a new run. The program has ten seconds, or until ctx ends, and whatever
// it has started ends with it. No error has anything of its output.
func (c *PasswordCommand) Password(ctx context.Context) (string, error) {
	select {
	case c.busy <- struct{}{}:
		defer func() { <-c.busy }()
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.Canceled) {
			return "", ctx.Err()
		}
		return "", noPassword{"another connection waits for it, and it does not end"}
	}
	if c.now().Before(c.until) {
		return c.last, nil
	}
	password, keep, err := c.run(ctx)
	if err != nil {
		return "", err
	}
	c.last, c.until = password, c.now().Add(keep)
	return password, nil
}

// Forget drops what is kept, after PostgreSQL has refused it.
func (c *PasswordCommand) Forget() {
	c.busy <- struct{}{}
	c.last, c.until = "", time.Time{}
	<-c.busy
}

func (c *PasswordCommand) run(ctx context.Context) (password string, keep time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, programTime)
	defer cancel()
	out, said := limited{most: longestOutput, refuses: true}, limited{most: longestLine}
	program := exec.CommandContext(ctx, "sh", "-c", c.command)
	program.Stdout, program.Stderr = &out, &said
	program.WaitDelay = time.Second // where its children stay, they may keep the output open
	endGroup := ownGroup(program)
	err = program.Run()
	endGroup()
	if text := strings.TrimSpace(string(said.content)); text != "" {
		c.log.Warn("the password command has written to its standard error", "said", text)
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well, and something that it has started goes on
		err = nil
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return "", 0, ctx.Err()
	case ctx.Err() != nil && err != nil:
		return "", 0, noPassword{"it had not ended when its time was over"}
	case out.full:
		return "", 0, noPassword{fmt.Sprintf("it wrote more than %d bytes", longestOutput)}
	case err != nil:
		return "", 0, noPassword{err.Error()}
	}
	first, second, two := strings.Cut(strings.TrimRight(string(out.content), "\r\n"), "\n")
	if password = strings.TrimSuffix(first, "\r"); password == "" {
		return "", 0, noPassword{"its first line is empty"}
	}
	if !two {
		return password, 0, nil
	}
	if keep, err = time.ParseDuration(strings.TrimSpace(second)); err != nil || keep < 0 {
		return "", 0, noPassword{"its second line is not a duration, or there is a third one"}
	}
	return password, keep, nil
}

// noPassword is why there is no password, without anything that the program wrote.
type noPassword struct{ why string }

// IsNoPassword says that a connection failed because the password command gave none: PostgreSQL was not asked.
func IsNoPassword(err error) bool { return errors.As(err, new(noPassword)) }

func (e noPassword) Error() string { return "the password command gave no password: " + e.why }

// Hint says what to do.
func (e noPassword) Hint() string {
	return "Run it by hand, as the account of this process. It writes the password as a line, and may write a second " +
		"line with the time for which the password is kept, such as 10m."
}

// limited keeps the beginning of what a program writes. full: there was more. If it refuses, that ends the program.
type limited struct {
	content       []byte
	most          int // bytes
	refuses, full bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := min(len(p), l.most-len(l.content))
	l.content, l.full = append(l.content, p[:room]...), l.full || room < len(p)
	if l.full && l.refuses {
		return room, io.ErrShortBuffer
	}
	return len(p), nil
}
