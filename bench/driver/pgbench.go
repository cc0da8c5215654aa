package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"pgflurry/bench/trial"
)

// Pgbench runs the program pgbench, which comes with PostgreSQL.
type Pgbench struct {
	path, folder string
	// Version is what pgbench --version prints.
	Version string
}

// NewPgbench finds the program in a folder of server binaries or on PATH, and writes the scripts into folder.
func NewPgbench(ctx context.Context, binaries, folder string, scripts ...fs.FS) (*Pgbench, error) {
	path := filepath.Join(binaries, "pgbench")
	if _, err := os.Stat(path); binaries == "" || err != nil {
		if path, err = exec.LookPath("pgbench"); err != nil {
			return nil, fmt.Errorf("pgbench is neither in %q nor on PATH; it comes with PostgreSQL (on Debian: "+
				"postgresql or postgresql-contrib)", binaries)
		}
	}
	version, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", path, err)
	}
	for _, of := range scripts {
		if err := os.CopyFS(folder, of); err != nil {
			return nil, fmt.Errorf("pgbench's scripts cannot be laid out: %w", err)
		}
	}
	return &Pgbench{path: path, folder: folder, Version: strings.TrimSpace(string(version))}, nil
}

// PgbenchRun is a way to run a script.
type PgbenchRun struct {
	Script  string // path in one of the script file systems
	Mode    string // how queries are sent: simple, extended or prepared
	Clients int
	Each    int64 // operations in one execution
	// Settle, in whole seconds, is added in front of the turn. It is left out of the speed, but its operations are
	// counted, since processor time is measured from the start.
	Settle time.Duration
	// Draws is how often a client executes the script before it leaves. Clients come and leave until the turn is over.
	// 0 means that every client stays through the turn.
	Draws int
}

// Against makes a turn of the run, in whole seconds. pgbench connects within its run and does not report when. So the
// same clients run once each right before: that is the count's Opening.
func (p *Pgbench) Against(r PgbenchRun, target string) trial.Turn {
	if r.Draws > 0 {
		return p.anew(r, target)
	}
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		once := r
		once.Settle = 0
		opening, err := measure(func() (trial.Count, error) { return p.run(ctx, once, target, "--transactions", "1") })
		if err != nil {
			return trial.Count{}, err
		}
		limit := []string{"--time", strconv.Itoa(int((r.Settle + d) / time.Second))}
		if r.Settle > 0 {
			limit = append(limit, "--progress", "1")
		}
		count, err := measure(func() (trial.Count, error) { return p.run(ctx, r, target, limit...) })
		if len(opening.Spent) > 0 {
			count.Opening = &trial.Opening{Operations: opening.Operations, CPU: opening.Spent}
		}
		return count, err
	}
}

// anew makes a turn of clients that connect, execute the script a few times and leave. The time to connect is left out.
func (p *Pgbench) anew(r PgbenchRun, target string) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		return measure(func() (all trial.Count, err error) {
			for until := time.Now().Add(d); err == nil && (all.Operations == 0 || time.Now().Before(until)); {
				var once trial.Count
				once, err = p.run(ctx, r, target, "--transactions", strconv.Itoa(r.Draws))
				all.Operations, all.Elapsed = all.Operations+once.Operations, all.Elapsed+once.Elapsed
			}
			return all, err
		})
	}
}

// run runs pgbench up to a limit: --time or --transactions (of each client).
func (p *Pgbench) run(ctx context.Context, r PgbenchRun, target string, limit ...string) (trial.Count, error) {
	to, err := url.Parse(target)
	if err != nil {
		return trial.Count{}, fmt.Errorf("connection string: %w", err)
	}
	command := exec.CommandContext(ctx, p.path,
		append(limit, "--no-vacuum", "--protocol", r.Mode, "--client", strconv.Itoa(r.Clients),
			"--jobs", strconv.Itoa(min(r.Clients, runtime.NumCPU())), "--file", filepath.Join(p.folder, r.Script),
			to.String())...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // we pass Ctrl-C on ourselves
	var out, complaints bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaints
	if err := command.Run(); err != nil {
		return trial.Count{}, fmt.Errorf("%s: %w: %s", strings.Join(command.Args, " "), err,
			lastLine(complaints.String()))
	}
	count, err := readPgbench(out.String(), complaints.String(), r.Settle)
	if err != nil {
		return trial.Count{}, fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	count.Operations *= r.Each
	return count, nil
}

var (
	transactionsLine = regexp.MustCompile(`(?m)^number of transactions actually processed: (\d+)`)
	failedLine       = regexp.MustCompile(`(?m)^number of failed transactions: (\d+)`)
	tpsLine          = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)`)
	progressLine     = regexp.MustCompile(`(?m)^progress: ([0-9.]+) s, ([0-9.]+) tps`)
)

// readPgbench parses executions and time from the output of pgbench 14 or newer. The time is that of the speed after
// the run has settled, which the lines of progress have.
func readPgbench(out, progress string, settle time.Duration) (trial.Count, error) {
	transactions, tps := transactionsLine.FindStringSubmatch(out), tpsLine.FindStringSubmatch(out)
	if transactions == nil || tps == nil {
		return trial.Count{}, fmt.Errorf("pgbench's result is not understood: %q", out)
	}
	if failed := failedLine.FindStringSubmatch(out); failed != nil && failed[1] != "0" {
		return trial.Count{}, fmt.Errorf("%s transactions failed", failed[1])
	}
	n, err := strconv.ParseInt(transactions[1], 10, 64)
	perSecond, err2 := strconv.ParseFloat(tps[1], 64)
	if settle > 0 {
		perSecond, err2 = settled(progress, settle)
	}
	if err := errors.Join(err, err2); err != nil {
		return trial.Count{}, err
	}
	if n == 0 || perSecond == 0 {
		return trial.Count{}, trial.ErrNothingDone
	}
	return trial.Count{Operations: n, Elapsed: time.Duration(float64(n) / perSecond * float64(time.Second))}, nil
}

// settled is the mean speed after so much time.
func settled(progress string, after time.Duration) (perSecond float64, err error) {
	var executions, from, last float64
	for _, line := range progressLine.FindAllStringSubmatch(progress, -1) {
		at, err := strconv.ParseFloat(line[1], 64)
		tps, err2 := strconv.ParseFloat(line[2], 64)
		if err := errors.Join(err, err2); err != nil {
			return 0, err
		}
		if last < after.Seconds() {
			from = at
		} else {
			executions += tps * (at - last)
		}
		last = at
	}
	if last <= from {
		return 0, fmt.Errorf("pgbench printed no progress after %v: %q", after, progress)
	}
	return executions / (last - from), nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
