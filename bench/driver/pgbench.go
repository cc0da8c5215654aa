package driver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
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
func NewPgbench(ctx context.Context, binaries, folder string, scripts fs.FS) (*Pgbench, error) {
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
	if err := os.CopyFS(folder, scripts); err != nil {
		return nil, fmt.Errorf("pgbench's scripts cannot be laid out: %w", err)
	}
	return &Pgbench{path: path, folder: folder, Version: strings.TrimSpace(string(version))}, nil
}

// PgbenchRun is a way to run a script.
type PgbenchRun struct {
	Script  string // path in one of the script file systems
	Mode    string // how queries are sent: simple, extended or prepared
	Clients int
	Each    int64 // operations in one execution
	Pace    Pace
	// Settle, in whole seconds, is added in front of the turn. It is left out of the speed, but its operations are
	// counted, since processor time is measured from the start.
	Settle time.Duration
	// Leave is after how many executions a client leaves. Clients come and leave until the turn is over. 0 means that
	// every client stays through the turn.
	Leave int
	// Executions of each client; 0: as many as the turn is long.
	Executions int
}

// Against makes a turn of the run, in whole seconds.
func (p *Pgbench) Against(r PgbenchRun, target string) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (count trial.Count, err error) {
		perSecond, err := r.Pace.perSecond()
		if err != nil {
			return count, err
		}
		switch {
		case r.Leave > 0:
			count, err = measure(func() (trial.Count, error) { return p.anew(ctx, r, target, d) })
		case r.Executions > 0:
			count, err = measure(func() (trial.Count, error) {
				return p.run(ctx, r, target, "--transactions", strconv.Itoa(r.Executions))
			})
		default:
			count, err = p.opened(ctx, r, target, d, perSecond, measure)
		}
		r.Pace.keep(count)
		return count, err
	}
}

// opened runs the clients once each, and then for the time of a turn.
func (p *Pgbench) opened(
	ctx context.Context, r PgbenchRun, target string, d time.Duration, perSecond float64, measure trial.Measure,
) (trial.Count, error) {
	once := r
	once.Settle = 0
	opening, err := measure(func() (trial.Count, error) { return p.run(ctx, once, target, "--transactions", "1") })
	if err != nil {
		return trial.Count{}, err
	}
	if r.Settle > 0 {
		d += r.Settle + time.Second // one more, because pgbench may print no line for its last
	}
	limit := []string{"--time", strconv.Itoa(int(d / time.Second))}
	if perSecond > 0 {
		// pgbench counts executions, begins them by a Poisson process, and writes their time from the intended start
		limit = append(limit, "--rate", strconv.FormatFloat(perSecond/float64(r.Each), 'f', 3, 64), "--log")
	}
	if r.Settle > 0 {
		limit = append(limit, "--progress", "1")
	}
	count, err := measure(func() (trial.Count, error) { return p.run(ctx, r, target, limit...) })
	if err != nil {
		return count, err
	}
	if len(opening.Spent) > 0 {
		count.Opening = &trial.Opening{Operations: opening.Operations, CPU: opening.Spent}
	}
	return count, nil
}

// anew lets clients connect, execute the script a few times and leave, until the turn is over. The time to connect is
// left out.
func (p *Pgbench) anew(ctx context.Context, r PgbenchRun, target string, d time.Duration) (all trial.Count, err error) {
	for until := time.Now().Add(d); err == nil && (all.Operations == 0 || time.Now().Before(until)); {
		var once trial.Count
		once, err = p.run(ctx, r, target, "--transactions", strconv.Itoa(r.Leave))
		all.Operations, all.Elapsed = all.Operations+once.Operations, all.Elapsed+once.Elapsed
	}
	return all, err
}

// run runs pgbench up to a limit: --time or --transactions (of each client).
func (p *Pgbench) run(ctx context.Context, r PgbenchRun, target string, limit ...string) (trial.Count, error) {
	open := slices.Contains(limit, "--log")
	logs, err := os.MkdirTemp(p.folder, "log-")
	if err != nil {
		return trial.Count{}, err
	}
	defer os.RemoveAll(logs)
	if open {
		limit = append(limit, "--log-prefix", filepath.Join(logs, "trips"))
	}
	out, complaints, err := output(ctx, p.path, append(limit, "--no-vacuum", "--protocol", r.Mode,
		"--client", strconv.Itoa(r.Clients), "--jobs", strconv.Itoa(min(r.Clients, runtime.NumCPU())),
		"--file", filepath.Join(p.folder, r.Script), target)...)
	if err != nil {
		return trial.Count{}, err
	}
	count, err := readPgbench(out, complaints, r)
	if err != nil {
		return trial.Count{}, fmt.Errorf("pgbench, %s, %s: %w", r.Script, r.Mode, err)
	}
	if open {
		count.Latency, err = readTrips(logs, r.Settle)
	}
	count.Operations *= r.Each
	return count, err
}

// output runs a client of PostgreSQL. We pass Ctrl-C on ourselves. An error has what the program said, and not the
// target, which may have a password.
func output(ctx context.Context, path string, args ...string) (out, complaints string, err error) {
	command := exec.CommandContext(ctx, path, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said, complained bytes.Buffer
	command.Stdout, command.Stderr = &said, &complained
	if err := command.Run(); err != nil {
		return "", "", fmt.Errorf("%s: %w: %s", filepath.Base(path), err, errorLines(complained.String()))
	}
	return said.String(), complained.String(), nil
}

var (
	transactionsLine = regexp.MustCompile(`(?m)^number of transactions actually processed: (\d+)`)
	failedLine       = regexp.MustCompile(`(?m)^number of failed transactions: (\d+)`)
	tpsLine          = regexp.MustCompile(`(?m)^tps = ([0-9.]+) \(without initial connection time\)`)
	progressLine     = regexp.MustCompile(`(?m)^progress: ([0-9.]+) s, ([0-9.]+) tps`)
)

// readPgbench parses executions and time from the output of pgbench 14 or newer. The time is that of the speed after
// the run has settled, which the lines of progress have. Clients that stay always wait, which gives the mean of a
// closed loop: pgbench's own has the time to settle in it.
func readPgbench(out, progress string, r PgbenchRun) (trial.Count, error) {
	transactions, tps := transactionsLine.FindStringSubmatch(out), tpsLine.FindStringSubmatch(out)
	if transactions == nil || tps == nil {
		return trial.Count{}, fmt.Errorf("pgbench's result is not understood: %q", out)
	}
	if failed := failedLine.FindStringSubmatch(out); failed != nil && failed[1] != "0" {
		return trial.Count{}, fmt.Errorf("%s transactions failed", failed[1])
	}
	n, err := strconv.ParseInt(transactions[1], 10, 64)
	perSecond, err2 := strconv.ParseFloat(tps[1], 64)
	if r.Settle > 0 {
		perSecond, err2 = settled(progress, r.Settle)
	}
	if err := errors.Join(err, err2); err != nil {
		return trial.Count{}, err
	}
	if n == 0 || perSecond == 0 {
		return trial.Count{}, trial.ErrNothingDone
	}
	count := trial.Count{Operations: n, Elapsed: time.Duration(float64(n) / perSecond * float64(time.Second))}
	if r.Leave == 0 {
		mean := time.Duration(r.Clients) * count.Elapsed / time.Duration(n)
		count.Latency = map[string]time.Duration{"mean": mean}
	}
	return count, nil
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

// readTrips reads the logs of a run. Each line has "client number microseconds script seconds microseconds …", the last
// two for the time of its end. It leaves out what ended within the time to settle.
func readTrips(folder string, settle time.Duration) (map[string]time.Duration, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		return nil, err
	}
	type trip struct{ took, at time.Duration } // at is since 1970
	var trips []trip
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(content) {
			var took, seconds, micros int64
			var other string
			if _, err := fmt.Sscan(string(line), &other, &other, &took, &other, &seconds, &micros); err != nil {
				return nil, fmt.Errorf("pgbench's log has the line %q: %w", line, err)
			}
			trips = append(trips, trip{
				time.Duration(took) * time.Microsecond,
				time.Duration(seconds)*time.Second + time.Duration(micros)*time.Microsecond,
			})
		}
	}
	first := time.Duration(math.MaxInt64)
	for _, t := range trips {
		first = min(first, t.at)
	}
	all := newTrips()
	for _, t := range trips {
		if t.at >= first+settle {
			record(all, t.took)
		}
	}
	return latencyOf(all), nil
}

// Copy makes turns of psql, each one COPY of so many rows. A script is a path in one of the script file systems.
func (p *Pgbench) Copy(script string, rows int64, target string) trial.Turn {
	return func(ctx context.Context, d time.Duration, measure trial.Measure) (trial.Count, error) {
		return measure(func() (count trial.Count, err error) {
			for began := time.Now(); err == nil && (count.Operations == 0 || count.Elapsed < d); {
				_, _, err = output(ctx, filepath.Join(filepath.Dir(p.path), "psql"), "--no-psqlrc", "--quiet",
					"--set", "ON_ERROR_STOP=1", "--set", "folder="+p.folder, "--output", os.DevNull,
					"--file", filepath.Join(p.folder, script), target)
				count.Operations, count.Elapsed = count.Operations+rows, time.Since(began)
			}
			return count, err
		})
	}
}

// errorLines are the first two lines with an error: pgbench says why, and then that it was aborted.
func errorLines(s string) string {
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(s), "\n"), func(line string) bool {
		return !strings.Contains(line, "rror")
	})
	return strings.Join(lines[:min(2, len(lines))], "; ")
}
