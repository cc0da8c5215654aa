package load

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"pgflurry/tests/support/meter"
)

// The table of the writers.
const table = `DROP TABLE IF EXISTS load_commit;
	CREATE TABLE load_commit (number bigint PRIMARY KEY, id bigint DEFAULT next_snowflake());
	GRANT ALL ON load_commit TO PUBLIC`

// Each statement returns the ID, and the server and its timeline that acknowledges the row. Writers that measure
// PostgreSQL itself do not call the function.
const (
	keyed    = "INSERT INTO load_commit (number) VALUES ($1) RETURNING id, " + here
	keyless  = "INSERT INTO load_commit (number, id) VALUES ($1, NULL) RETURNING 0, " + here
	here     = "coalesce(host(inet_server_addr()), 'socket') || ' timeline ' || " + timeline
	timeline = "substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
)

func (l *Load) makeTable() {
	l.t.Helper()
	if l.targets.Owner == "" {
		return
	}
	conn, err := l.owner()
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.PgConn().Exec(context.Background(), table).ReadAll(); err != nil {
		l.t.Fatal(err)
	}
}

func (l *Load) owner() (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	return pgx.Connect(ctx, l.targets.Owner)
}

// startWriters starts a writer for each host of PostgreSQL as its probe, and some writers that work as applications do.
func (l *Load) startWriters() {
	if l.targets.Direct != "" {
		place := l.meter.Watch(services, postgresql, "")
		for i, url := range hosts(l.t, l.targets.Direct) {
			l.writer(&client{
				kind: postgresql, name: fmt.Sprint("writer of host ", i+1), url: url, stays: true,
				patience: patience / 2, pause: l.pause,
			}, keyless, place)
		}
		l.application("pgx, several hosts, writes", "", l.targets.Direct)
	}
	if l.targets.HAProxy != "" {
		l.writer(&client{
			kind: haproxy, name: "writer through HAProxy, new connections", url: l.targets.HAProxy, fresh: true,
			patience: patience / 2, pause: l.pauseNew,
		}, keyless, l.meter.Watch(services, haproxy, ""))
		l.application("pgx, HAProxy, writes", "", l.targets.HAProxy)
	}
	for i, url := range l.targets.Proxies {
		l.application("pgx, one proxy, writes", fmt.Sprint(i+1), url)
	}
}

// application starts a writer that works as an application does.
func (l *Load) application(kind, place, url string) {
	c := &client{kind: kind, name: kind + " " + place, url: url}
	c.pause = resting(3 * breath) // each row waits for a synchronous standby
	l.writer(c, keyed, l.meter.Watch(clients, kind, place))
}

// writer starts a client that inserts one row a turn, in a transaction of its own.
func (l *Load) writer(c *client, insert string, place meter.Place) {
	c.Load, c.success = l, place.Success
	c.do = func(ctx context.Context, s *session) error {
		number := l.commits.Begin()
		s.notice = nil
		began := time.Now()
		args := [][]byte{strconv.AppendInt(nil, number, 10)}
		read := s.ExecParams(ctx, insert, args, nil, nil, nil).Read()
		id, host := int64(0), ""
		if len(read.Rows) == 1 {
			id, _ = strconv.ParseInt(string(read.Rows[0][0]), 10, 64)
			host = string(read.Rows[0][1])
		}
		if id != 0 {
			l.commits.Told(number, id)
			c.got(began, []int64{id})
		}
		if said, is := errors.AsType[*pgconn.PgError](read.Err); is && said.SeverityUnlocalized == "ERROR" {
			l.commits.Refused(number)
			return read.Err
		}
		if read.Err != nil {
			l.commits.Unknown(number)
			return read.Err
		}
		if host == "" || read.CommandTag.String() != "INSERT 0 1" {
			return fmt.Errorf("%s with %d rows, expected INSERT 0 1 and its row", read.CommandTag, len(read.Rows))
		}
		l.commits.Acknowledged(number, id, host, time.Now(), s.notice == nil)
		if s.notice != nil {
			c.meter.Saw(c.kind, c.name, "acknowledged, but: "+s.notice.Code+" "+meter.Plain(s.notice.Message))
		}
		c.succeeded()
		return nil
	}
	c.start()
}

// compare looks for acknowledged commits that are lost. It also records IDs of rows whose writers never got them.
func (l *Load) compare(all bool) {
	l.t.Helper()
	if l.targets.Owner == "" {
		return
	}
	rows, read, err := l.rows(l.commits.From(all))
	if err != nil {
		l.t.Errorf("the table cannot be read for comparison: %v", err)
		return
	}
	losses, untold, err := l.commits.Check(rows, read)
	if err != nil {
		l.t.Error(err)
	}
	l.meter.Lost(len(losses))
	for i, loss := range losses {
		if i == 5 {
			l.t.Logf("… and %d more commits", len(losses)-i)
			break
		}
		l.t.Logf("commit %d (clean: %t) was acknowledged by %s at %s and is gone",
			loss.Number, loss.Clean, loss.Host, loss.At.Format("15:04:05.000"))
	}
	c := &client{Load: l, kind: "rows whose writer never learned their ID", name: "rows of the table"}
	for _, row := range untold {
		if row.ID == 0 {
			continue // the row has no ID
		}
		c.got(time.Now(), []int64{row.ID})
	}
}

// rows returns the rows of the table from a number on, and the time of reading.
func (l *Load) rows(from int64) ([]meter.Row, time.Time, error) {
	conn, err := l.owner()
	if err != nil {
		return nil, time.Time{}, err
	}
	defer conn.Close(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), settling)
	defer cancel()
	read := time.Now()
	list, err := conn.Query(ctx, "SELECT number, coalesce(id, 0) FROM load_commit WHERE number >= $1", from)
	if err != nil {
		return nil, read, err
	}
	rows, err := pgx.CollectRows(list, pgx.RowToStructByPos[meter.Row])
	return rows, read, err
}
