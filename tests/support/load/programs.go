package load

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pgflurry/tests/support/server"
)

//go:embed Draws.java
var drawsJava []byte

// driver is Debian's JDBC driver.
const driver = "/usr/share/java/postgresql.jar"

// startPrograms starts the clients that are programs: psql, which uses libpq, and JDBC.
func (l *Load) startPrograms() {
	l.t.Helper()
	for _, to := range [][2]string{{"the primary", l.targets.Direct}, {"the proxies", l.targets.AllProxies}} {
		where, list := to[0], to[1]
		if list == "" {
			continue
		}
		c := &client{Load: l, kind: "psql, several hosts, " + where, name: "psql, " + where, url: list}
		c.success = l.meter.Watch(clients, c.kind, "").Success
		psql := server.Tool(l.t, "psql")
		l.running.Go(func() {
			for l.ctx.Err() == nil {
				c.psql(psql)
				server.Pause(l.ctx, 5*breath)
			}
		})
		if l.targets.JDBC {
			l.jdbc(where, list)
		}
	}
}

// psql runs psql to its end. psql ends when it loses its connection.
func (c *client) psql(path string) {
	p, err := c.run(path, "-XAtq", "-v", "VERBOSITY=verbose", c.url)
	if err != nil {
		c.t.Error(err)
		return
	}
	defer p.end()
	limit := 5 * patience // it may wait so long for each of its hosts
	for c.ctx.Err() == nil {
		if _, err := io.WriteString(p.in, single+";\n"); err != nil {
			p.last(c)
			return
		}
		if !p.line(c, limit) {
			return
		}
		limit = patience
		server.Pause(c.ctx, breath)
	}
}

// running is a program that prints IDs and errors.
type running struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // lines of both outputs
}

// run starts a program, without the test's variables PG….
func (c *client) run(path string, args ...string) (*running, error) {
	p := &running{cmd: exec.Command(path, args...), lines: make(chan string, 16)}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PG") {
			p.cmd.Env = append(p.cmd.Env, variable)
		}
	}
	out, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = write, write
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	err = p.cmd.Start()
	write.Close()
	if err != nil {
		out.Close()
		return nil, err
	}
	go func() {
		defer close(p.lines)
		defer out.Close()
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.lines <- lines.Text()
		}
	}()
	return p, nil
}

func (p *running) end() {
	p.in.Close()
	_ = p.cmd.Process.Kill()
	for range p.lines { // until it has ended
	}
	_ = p.cmd.Wait()
}

// line takes the program's next line, which is an ID or an error. It returns whether the program goes on.
func (p *running) line(c *client, patience time.Duration) bool {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case text, more := <-p.lines:
		if more {
			p.take(c, text)
		}
		return more
	case <-limit.C:
		c.failed(context.DeadlineExceeded)
		return false
	case <-c.ctx.Done():
		return false
	}
}

// last takes the lines before the end of the program.
func (p *running) last(c *client) {
	for p.line(c, patience) {
	}
}

// gone is libpq's message for a connection that ended without an error from the server.
const gone = "server closed the connection unexpectedly"

func (p *running) take(c *client, text string) {
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		c.got(time.Now(), []int64{id})
		c.succeeded()
		return
	}
	if strings.HasPrefix(text, gone) {
		c.failed(errors.New(gone))
		return
	}
	for _, level := range []string{"ERROR:  ", "FATAL:  ", "psql: error: "} {
		if at := strings.Index(text, level); at >= 0 {
			c.failed(errors.New(strings.Replace(text[at+len(level):], ": ", " ", 1)))
			return
		}
	}
}

// jdbc starts the program of Draws.java, which reconnects by itself.
func (l *Load) jdbc(where, list string) {
	l.t.Helper()
	source := filepath.Join(l.t.TempDir(), "Draws.java")
	if err := os.WriteFile(source, drawsJava, 0o600); err != nil {
		l.t.Fatal(err)
	}
	c := &client{Load: l, kind: "JDBC, several hosts, " + where, name: "JDBC, " + where}
	c.success = l.meter.Watch(clients, c.kind, "").Success
	at, err := jdbcURL(list)
	if err != nil {
		l.t.Fatal(err)
	}
	p, err := c.run("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m", "-cp", driver, source, at,
		strconv.FormatInt(breath.Milliseconds(), 10))
	if err != nil {
		l.t.Fatal(err)
	}
	l.running.Go(func() {
		defer p.end()
		for l.ctx.Err() == nil {
			select {
			case <-l.ctx.Done():
			case text, more := <-p.lines:
				if !more {
					l.t.Errorf("%s has ended", c.name)
					return
				}
				c.jdbcLine(text)
			}
		}
	})
}

// jdbcLine takes a line of Draws.java: an ID, or the SQLSTATE and the message of an error.
func (c *client) jdbcLine(text string) {
	if id, err := strconv.ParseInt(text, 10, 64); err == nil {
		c.got(time.Now(), []int64{id})
		c.succeeded()
		return
	}
	text, _, _ = strings.Cut(text, " Hint: ") // JDBC puts the hint into the message
	if said, is := strings.CutPrefix(text, "error "); is {
		c.failed(errors.New(said))
		return
	}
	c.t.Errorf("%s prints %q, expected an ID or an error", c.name, text)
}

// jdbcURL translates a libpq URL for JDBC. It adds time-outs, as applications do: without them JDBC waits for ever.
func jdbcURL(list string) (string, error) {
	u, err := url.Parse(list)
	if err != nil {
		return "", err
	}
	query := url.Values{
		"user": {u.User.Username()}, "sslmode": {"disable"}, "connectTimeout": {"2"}, "socketTimeout": {"2"},
		"loginTimeout": {"5"}, "hostRecheckSeconds": {"1"}, "tcpKeepAlive": {"true"},
	}
	if password, is := u.User.Password(); is {
		query.Set("password", password)
	}
	if u.Query().Get("target_session_attrs") == "read-write" {
		query.Set("targetServerType", "primary")
	}
	return "jdbc:postgresql://" + u.Host + u.Path + "?" + query.Encode(), nil
}
