//go:build full

package clients

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgflurry/tests/support/deeds"
	"pgflurry/tests/support/server"
)

// light are libraries that only connect and draw here: they stand on a driver of the other table, or on ruby-pg.
var light = []driver{
	nodeDriver("node-postgres, first example", "node/connects.js").in("pg"),
	nodeDriver("pg-promise", "node/connects.js").in("pg-promise"),
	nodeDriver("Kysely", "node/connects.js").in("kysely"),
	nodeDriver("Knex", "node/connects.js").in("knex"),
	nodeDriver("TypeORM", "node/connects.js").in("typeorm"),
	nodeDriver("Sequelize", "node/connects.js").in("sequelize"),
	nodeDriver("Slonik", "node/connects.js").in("slonik"),
	nodeDriver("Prisma, @prisma/adapter-pg", "node/connects.js").in("@prisma/adapter-pg"),
	scripted("PHP pgsql", "php", "php/with_pgsql.php", "php-cli php-pgsql"),
	scripted("ActiveRecord", "ruby", "ruby/with_activerecord.rb", "ruby-activerecord ruby-pg"),
}

func TestTheIDDatabaseAnswersWhatEveryDriverSendsAlsoWithPostgreSQLStopped(t *testing.T) {
	deeds.Wanted(t)
	m := newMatrix(t)
	all := slices.Concat(drivers, light)
	home := newIDDatabase(t, m, "5m", all...)
	connect := []string{"unprepared"}
	seen := make(map[string]string)
	var texts []string
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) {
			m.Asked(t, d.Program, install)
			there, sent := record(t, m.direct)
			m.record(t, d, there, connect)
			seen[d.Name] = shown(sent())
			texts = append(texts, sent()...)
		})
	}
	home.stop(time.Minute)
	for _, d := range all {
		if seen[d.Name] == "" {
			continue // PGFLURRY_TEST_CLIENTS did not ask for it
		}
		t.Run(d.Name+", PostgreSQL stopped", func(t *testing.T) {
			there, sent := record(t, home.url)
			defer func() { texts = append(texts, sent()...) }() // some ask more where there are no types
			allFromMemory(t, m.record(t, d, there, connect))
		})
	}
	if *update && deeds.All() {
		writeLookups(t, m.direct, texts)
	}
	if !t.Failed() {
		settleSent(t, seen)
	}
}

// catalog matches a text that reads a table, which can only be one of the catalogs.
var catalog = regexp.MustCompile(`(?i)\bfrom\s+pg_`)

// writeLookups writes what drivers ask of the catalogs into the ID database's sources, with the labels that PostgreSQL
// gives. They count in the next build: run the test once more.
func writeLookups(t *testing.T, direct string, texts []string) {
	t.Helper()
	conn := server.Connect(t, direct).PgConn()
	var file strings.Builder
	for i, text := range texts {
		if !catalog.MatchString(text) || slices.Contains(texts[:i], text) {
			continue
		}
		described, err := conn.Prepare(t.Context(), "", text, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		file.WriteString("--")
		for _, f := range described.Fields {
			file.WriteString(" " + f.Name)
		}
		line := 200 // longer than any
		for word := range strings.FieldsSeq(strings.TrimSuffix(strings.TrimSpace(text), ";")) {
			space := " "
			if line += 1 + len(word); line > 110 {
				space, line = "\n", len(word)
			}
			file.WriteString(space + word)
		}
		file.WriteString(";\n")
	}
	if err := os.WriteFile("../../proxy/idserver/command/lookups.sql", []byte(file.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// address is one of memory, in the name of a cursor.
var address = regexp.MustCompile("0x[0-9a-f]+")

// shown is a list of texts in a cell of a page. The draw itself is left out, and a long text is cut.
func shown(sent []string) string {
	var cells []string
	for _, text := range sent {
		text = address.ReplaceAllString(strings.Join(strings.Fields(text), " "), "0x…")
		if strings.Contains(text, "next_snowflake") && !strings.Contains(text, ";") {
			continue
		}
		if len(text) > 90 {
			text = text[:87] + "…"
		}
		cells = append(cells, "`"+strings.ReplaceAll(text, "|", `\|`)+"`")
	}
	if len(cells) == 0 {
		return "nothing"
	}
	return strings.Join(cells, ", ")
}

// record relays connections to a database at an address of its own. sent returns the texts of SQL that clients sent, in
// their order and each once.
func record(t *testing.T, at string) (there string, sent func() []string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var lock sync.Mutex
	var texts []string
	note := func(text string) {
		lock.Lock()
		defer lock.Unlock()
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	target := server.Parse(t, at).Host
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go relay(client, target, note)
		}
	}()
	u := server.Parse(t, at)
	u.Host = listener.Addr().String()
	return u.String(), func() []string {
		lock.Lock()
		defer lock.Unlock()
		return slices.Clone(texts)
	}
}

// relay passes on everything, and notes the text of each Query and Parse.
func relay(client net.Conn, target string, note func(string)) {
	defer client.Close()
	postgres, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer postgres.Close()
	go func() {
		io.Copy(client, postgres)
		client.Close()
	}()
	for started := false; ; {
		head := make([]byte, 5) // a startup packet has no kind
		if started {
			_, err = io.ReadFull(client, head)
		} else {
			_, err = io.ReadFull(client, head[1:])
		}
		if err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return
		}
		message := append(head[1:], body...)
		switch fields := strings.Split(string(body), "\x00"); {
		case started && head[0] == 'Q':
			note(fields[0])
		case started && head[0] == 'P':
			note(fields[1])
		}
		if started {
			message = append(head[:1:1], message...)
		} else {
			started = len(body) > 4 // a request for encryption has no more than its code
		}
		if _, err := postgres.Write(message); err != nil {
			return
		}
	}
}

// PHP asks for the name of a type by itself, and hides an error.
func TestPHPNamesTheTypesOfTheIDDatabase(t *testing.T) {
	deeds.Wanted(t)
	m := newMatrix(t)
	home := newIDDatabase(t, m, "60s")
	php := exec.Command("php", "php/with_pgsql.php", "types")
	php.Env = append(append(php.Environ(), server.Environment(t, home.url)...), "PGPASSWORD=right")
	out, err := php.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("%v: %s", err, exit.Stderr)
	}
	if string(out) != "int8 timestamptz int4 text\n" {
		t.Errorf("the types of an ID, now(), 1+1 and version() are %q", out)
	}
}
