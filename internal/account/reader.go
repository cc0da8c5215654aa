package account

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/internal/connect"
	"pgflurry/internal/fault"
	"pgflurry/internal/logs"
	"pgflurry/internal/report"
)

// connectionName is the default application_name of the connection.
const connectionName = "pgflurry serve, accounts"

// ReadEvery is the pause between two readings. A change of the accounts takes effect that much later.
const ReadEvery = 5 * time.Second

const (
	// restPerReading makes the pause at least so many times as long as the reading before it, up to mostBetween.
	restPerReading = 20
	mostBetween    = time.Minute
	// firstReading is how long a client waits at most for the first reading, which usually takes milliseconds. Clients
	// that were waiting in a socket come to a new process before that reading is done. One attempt may take 5 s.
	firstReading = 6 * time.Second
)

// A Reader has the accounts as last read from the table or from a file. If a reading fails, the last ones stay. Its
// methods are safe for concurrent use.
type Reader struct {
	taking sync.Mutex           // guards file and list together
	wanted atomic.Bool          // false: everybody may log in, and nothing is read
	file   atomic.Pointer[File] // nil: the table
	list   atomic.Pointer[List] // nil: not read yet
	failed atomic.Pointer[failure]
	again  chan struct{} // asks for a reading at once
	tried  chan struct{} // closed after the first reading, successful or not

	asker   *connect.Asker // session to the lease database
	wall    func() time.Time
	now     func() time.Duration
	log     *slog.Logger
	failing logs.Reminder
	end     func(of func(user string) bool) int // nil: there are no sessions yet
}

// A failure is why the last reading failed. The zero value: it did not.
type failure struct{ cause, hint string }

// NewReader makes a Reader; nothing is read before Use or Run. config is the database with the table. The rules of its
// connection have the clock and the log. wall dates lists. timeout limits a login, and a reading of the table.
func NewReader(config *pgx.ConnConfig, timeout time.Duration, rules connect.Rules, wall func() time.Time) *Reader {
	there := func() *pgx.ConnConfig { return config }
	r := &Reader{
		again: make(chan struct{}, 1), tried: make(chan struct{}),
		asker: connect.NewAsker(there, timeout, rules.Named(connectionName)),
		wall:  wall, now: rules.Now, log: rules.Log, failing: logs.Reminder{Every: logs.RemindEvery},
	}
	r.failed.Store(&failure{})
	return r
}

// EndsSessions sets what ends the sessions of users whose account is gone, and returns how many it has ended. Call it
// before Run.
func (r *Reader) EndsSessions(end func(of func(user string) bool) int) { r.end = end }

// Prepare takes another source: the file at a path, or the table if the path is empty. read is what the file holds;
// nil: Prepare reads it. If wanted is false, nothing is read. Nothing changes before commit, which cannot fail.
func (r *Reader) Prepare(wanted bool, path string, read *List) (commit func(), err error) {
	file := r.file.Load()
	switch {
	case path == "":
		return func() {
			r.wanted.Store(wanted)
			r.goOn(nil, nil)
			r.soon()
		}, nil
	case file == nil || file.Path() != path:
		file = NewFile(path)
	}
	var list *List
	if read != nil {
		list = NewList(read.All(), file.secret, r.wall())
	} else if list, err = file.Read(context.Background(), r.wall()); err != nil {
		return nil, err
	}
	return func() {
		r.wanted.Store(true)
		r.goOn(file, list)
	}, nil
}

// goOn switches to another source. list is its content; nil: not read yet.
func (r *Reader) goOn(file *File, list *List) {
	r.taking.Lock()
	defer r.taking.Unlock()
	r.file.Store(file)
	if list != nil {
		r.use(list)
	}
}

// store keeps a list, unless the settings name another source meanwhile. It says whether it kept it.
func (r *Reader) store(file *File, list *List) bool {
	r.taking.Lock()
	defer r.taking.Unlock()
	if r.file.Load() != file {
		return false
	}
	r.use(list)
	return true
}

// soon asks for a reading at once.
func (r *Reader) soon() {
	select {
	case r.again <- struct{}{}:
	default: // a reading is due already
	}
}

// Last is the list of the last reading; nil: there was none. Before the first reading it waits for that.
func (r *Reader) Last() *List {
	if list := r.list.Load(); list != nil {
		return list
	}
	timer := time.NewTimer(firstReading)
	defer timer.Stop()
	select {
	case <-r.tried:
	case <-timer.C:
	}
	return r.list.Load()
}

// Run reads the accounts again and again until ctx ends.
func (r *Reader) Run(ctx context.Context) {
	defer r.asker.Close()
	tried := sync.OnceFunc(func() { close(r.tried) })
	defer tried()
	for ctx.Err() == nil {
		began := r.now()
		pause := ReadEvery
		if r.wanted.Load() {
			read := r.read(ctx)
			tried()
			if read { // the length of a failure says nothing about the table
				pause = min(max(pause, restPerReading*(r.now()-began)), mostBetween)
			}
		}
		connect.Sleep(ctx, connect.About(pause), r.again)
	}
}

// read reads once, and says whether that succeeded.
func (r *Reader) read(ctx context.Context) bool {
	file := r.file.Load()
	var list *List
	var err error
	if file != nil {
		list, err = file.Read(ctx, r.wall())
	} else {
		err = r.asker.Ask(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
			list, err = Read(ctx, conn, r.wall())
			return err
		})
	}
	switch {
	case ctx.Err() != nil || r.file.Load() != file: // stopping, or the source has changed meanwhile
	case err != nil:
		r.fails(err)
	case r.store(file, list) && r.failing.Right("read"):
		r.log.Info("accounts of the ID database are read", "accounts", list.Len(), "from", source(file))
	}
	return err == nil
}

// use replaces the list, and logs a change.
func (r *Reader) use(list *List) {
	before := r.list.Swap(list)
	r.failed.Store(&failure{})
	switch {
	case before == nil && list.Len() == 0:
		r.log.Warn("there are no accounts of the ID database: nobody can log in to it", "from", source(r.file.Load()),
			"hint", "Run \"pgflurry clients add NAME\", or list them in --id-auth-file.")
	case before == nil || before.Same(list):
	case list.Len() == 0: // for example after a restore without the rows
		r.log.Warn("accounts of the ID database are gone: nobody can log in to it", "before", before.Len(),
			"from", source(r.file.Load()))
	default:
		r.log.Info("accounts of the ID database have changed", "accounts", list.Len(), "before", before.Len())
	}
	r.endRemoved(before, list)
}

// endRemoved ends the sessions of accounts that are gone. An empty list ends none: it is more likely a mistake, such as
// a restore without the rows.
func (r *Reader) endRemoved(before, list *List) {
	if before == nil || list.Len() == 0 || r.end == nil {
		return
	}
	ended := r.end(func(user string) bool {
		_, was := before.Find(user)
		_, is := list.Find(user)
		return was && !is
	})
	if ended > 0 {
		r.log.Info("sessions of removed accounts are ended", "sessions", ended)
	}
}

// fails records and logs that a reading failed.
func (r *Reader) fails(err error) {
	f := &failure{cause: connect.OneLine(err), hint: fault.HintOf(connect.Explain(err))}
	r.failed.Store(f)
	what := "accounts of the ID database cannot be read: logins go on with those that were read last"
	if r.list.Load() == nil {
		what = "accounts of the ID database cannot be read: nobody can log in to it"
	}
	due, lasted := r.failing.Wrong(what+f.cause, r.now())
	if !due {
		return
	}
	fields := append([]any{"cause", f.cause, "from", source(r.file.Load())}, logs.Fields(lasted)...)
	r.log.Warn(what, append(fields, fault.HintField(f.hint)...)...)
}

// source names where the accounts are, for the log.
func source(file *File) string {
	if file == nil {
		return "pgflurry.client"
	}
	return file.Path()
}

// Report is what operators see.
func (r *Reader) Report() report.Accounts {
	if !r.wanted.Load() {
		return report.Accounts{}
	}
	file, f := r.file.Load(), r.failed.Load()
	accounts := report.Accounts{Needed: true, From: source(file), File: file != nil, Problem: f.cause, Hint: f.hint}
	if list := r.list.Load(); list != nil {
		accounts.Count, accounts.Read = list.Len(), list.Read()
	}
	return accounts
}
