package node

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"pgflurry/account"
	"pgflurry/fresh"
	"pgflurry/hint"
	"pgflurry/logs"
)

// accountsName is the default application_name of the connection for accounts.
const accountsName = "pgflurry serve, accounts"

const (
	// accountsEvery is the pause between two readings. A change of the accounts takes effect that much later.
	accountsEvery = 5 * time.Second
	// accountsRest makes the pause at least so many times as long as the reading before it, up to mostBetweenReadings.
	accountsRest        = 20
	mostBetweenReadings = time.Minute
	// leastMaxAge is the shortest --id-auth-max-age: below it, two failed readings would end all logins.
	leastMaxAge = 3 * accountsEvery
	// firstReading is how long a client waits at most for the first reading, which usually takes milliseconds. Clients
	// that were waiting in a socket come to a new process before that reading is done.
	firstReading = 3 * time.Second
)

// accounts are who may log in to the ID database, as last read from the table or from a file. If a reading fails, the
// last ones stay.
type accounts struct {
	taking  sync.Mutex                   // guards file and list together
	wanted  atomic.Bool                  // false: everybody may log in, and nothing is read
	file    atomic.Pointer[account.File] // nil: the table
	list    atomic.Pointer[account.List] // nil: not read yet
	trouble atomic.Pointer[trouble]      // why the last reading failed; the zero value: it did not
	again   chan struct{}                // asks for a reading at once
	tried   chan struct{}                // closed after the first reading, successful or not

	asker   *fresh.Asker // session to the lease database
	role    string
	clock   clock
	log     *slog.Logger
	failing logs.Reminder
	// end ends the sessions of users, and returns how many. Nil: there are none yet.
	end func(of func(user string) bool) int
}

func (n *Node) newAccounts() *accounts {
	a := &accounts{
		again: make(chan struct{}, 1), tried: make(chan struct{}),
		asker: fresh.NewAsker(n.asLease, askTimeout, n.rules.Named(accountsName)),
		role:  n.lease.User, clock: n.clock, log: n.log, failing: logs.Reminder{Every: logs.RemindEvery},
	}
	a.trouble.Store(&trouble{})
	return a
}

// prepare reads a file of accounts, if the settings name one. Nothing changes before commit, which cannot fail.
func (a *accounts) prepare(d IDDatabase) (commit func(), err error) {
	file := a.file.Load()
	switch {
	case d.AuthFile == "":
		return func() {
			a.wanted.Store(d.accounts())
			a.goOn(nil, nil)
			a.soon()
		}, nil
	case file == nil || file.Path() != d.AuthFile:
		file = account.NewFile(d.AuthFile)
	}
	list, err := file.Read(context.Background(), a.clock.wall())
	if err != nil {
		return nil, unreadFile(err)
	}
	return func() {
		a.wanted.Store(true)
		a.goOn(file, list)
	}, nil
}

// goOn switches to another source. list is its content; nil: not read yet.
func (a *accounts) goOn(file *account.File, list *account.List) {
	a.taking.Lock()
	defer a.taking.Unlock()
	a.file.Store(file)
	if list != nil {
		a.take(list)
	}
}

// takeFrom stores a list, unless the settings name another source meanwhile. It says whether it stored it.
func (a *accounts) takeFrom(file *account.File, list *account.List) bool {
	a.taking.Lock()
	defer a.taking.Unlock()
	if a.file.Load() != file {
		return false
	}
	a.take(list)
	return true
}

// soon asks for a reading at once.
func (a *accounts) soon() {
	select {
	case a.again <- struct{}{}:
	default: // a reading is due already
	}
}

// last is the list of the last reading; nil: there was none. Before the first reading it waits for that.
func (a *accounts) last() *account.List {
	if list := a.list.Load(); list != nil {
		return list
	}
	timer := time.NewTimer(firstReading)
	defer timer.Stop()
	select {
	case <-a.tried:
	case <-timer.C:
	}
	return a.list.Load()
}

// run reads the accounts again and again until ctx ends.
func (a *accounts) run(ctx context.Context) {
	defer a.asker.Close()
	tried := sync.OnceFunc(func() { close(a.tried) })
	defer tried()
	for ctx.Err() == nil {
		began := a.clock.monotonic()
		pause := accountsEvery
		if a.wanted.Load() {
			read := a.read(ctx)
			tried()
			if read { // the length of a failure says nothing about the table
				pause = min(max(pause, accountsRest*(a.clock.monotonic()-began)), mostBetweenReadings)
			}
		}
		fresh.Rest(ctx, fresh.About(pause), a.again)
	}
}

// read reads once, and says whether that succeeded.
func (a *accounts) read(ctx context.Context) bool {
	file := a.file.Load()
	var list *account.List
	var err error
	if file != nil {
		list, err = file.Read(ctx, a.clock.wall())
	} else {
		err = a.asker.Ask(ctx, func(ctx context.Context, conn *pgx.Conn) (err error) {
			list, err = account.Read(ctx, conn, a.clock.wall())
			return err
		})
	}
	switch {
	case ctx.Err() != nil || a.file.Load() != file: // stopping, or the source has changed meanwhile
	case err != nil:
		a.failed(err)
	case a.takeFrom(file, list) && a.failing.Right("read"):
		a.log.Info("accounts of the ID database are read", "accounts", list.Len(), "from", source(file))
	}
	return err == nil
}

// take replaces the list, and logs a change.
func (a *accounts) take(list *account.List) {
	before := a.list.Swap(list)
	a.trouble.Store(&trouble{})
	switch {
	case before == nil && list.Len() == 0:
		a.log.Warn("there are no accounts of the ID database: nobody can log in to it", "from", source(a.file.Load()),
			"hint", "Run \"pgflurry clients add NAME\", or list them in --id-auth-file.")
	case before == nil || before.Same(list):
	case list.Len() == 0: // for example after a restore without the rows
		a.log.Warn("accounts of the ID database are gone: nobody can log in to it", "before", before.Len(),
			"from", source(a.file.Load()))
	default:
		a.log.Info("accounts of the ID database have changed", "accounts", list.Len(), "before", before.Len())
	}
	a.endRemoved(before, list)
}

// endRemoved ends the sessions of accounts that are gone. An empty list ends none: it is more likely a mistake, such as
// a restore without the rows.
func (a *accounts) endRemoved(before, list *account.List) {
	if before == nil || list.Len() == 0 || a.end == nil {
		return
	}
	ended := a.end(func(user string) bool {
		_, was := before.Find(user)
		_, is := list.Find(user)
		return was && !is
	})
	if ended > 0 {
		a.log.Info("sessions of removed accounts are ended", "sessions", ended)
	}
}

// failed records and logs that a reading failed.
func (a *accounts) failed(err error) {
	t := &trouble{reason: reasonUnanswered, cause: causeOf(err), hint: adviceFor(err, a.role)}
	a.trouble.Store(t)
	what := "accounts of the ID database cannot be read: logins go on with those that were read last"
	if a.list.Load() == nil {
		what = "accounts of the ID database cannot be read: nobody can log in to it"
	}
	due, lasted := a.failing.Wrong(what+t.cause, a.clock.monotonic())
	if !due {
		return
	}
	fields := append([]any{"cause", t.cause, "from", source(a.file.Load())}, logs.Fields(lasted)...)
	a.log.Warn(what, append(fields, hint.Fields(t.hint)...)...)
}

// source names where the accounts are, for the log.
func source(file *account.File) string {
	if file == nil {
		return "pgflurry.client"
	}
	return file.Path()
}
