package idserver

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/idserver/state"
	"pgflurry/proxy/internal/wire"
)

// The package has no way to reach anybody else: it opens no connection and no file, and starts no program.
func TestInvariant1ASessionHasItsClientsConnectionAndNoOther(t *testing.T) {
	files, err := filepath.Glob("*.go")
	below, err2 := filepath.Glob("*/*.go")
	if err := errors.Join(err, err2); err != nil || len(files) == 0 || len(below) == 0 {
		t.Fatal(files, below, err)
	}
	files = append(files, below...)
	allowed := map[string][]string{
		"net": {"Addr", "Conn", "ErrClosed", "Error", "TCPAddr", "UnixAddr"}, "os": {"ErrDeadlineExceeded"},
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			switch path, _ := strconv.Unquote(i.Path.Value); path {
			case "os/exec", "syscall", "net/http", "github.com/jackc/pgx/v5", "github.com/jackc/pgx/v5/pgconn":
				t.Errorf("%s imports %s, by which it could reach somebody else", name, path)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				of, ok := s.X.(*ast.Ident)
				if ok && allowed[of.Name] != nil && !slices.Contains(allowed[of.Name], s.Sel.Name) {
					t.Errorf("%s uses %s.%s; expected only %q", name, of.Name, s.Sel.Name, allowed[of.Name])
				}
			}
			return true
		})
	}
}

func TestInvariant2NoIDWithoutAGrantAndTheSessionStays(t *testing.T) {
	ids := &counter{}
	x := newTalk(t, testServer(t, ids))
	x.send(prepares()...)
	x.says(x.hear("Z"), "1 1 ZI")
	ids.fail(errors.New("no worker is leased"))
	x.says(x.query("SELECT next_snowflake()"), "<next_snowflake> ERROR:57P03 ZI")
	x.says(x.query("SELECT 1; SELECT * FROM next_snowflakes(1000); SELECT 2"),
		"<?column?> (1) [SELECT 1] <next_snowflakes> ERROR:57P03 ZI")
	x.send(bind("", "s"), execute("", 0), bind("", "s"), execute("", 0), syncs)
	x.says(x.hear("Z"), "2 ERROR:57P03 ZI")
	x.says(x.query("BEGIN; SELECT next_snowflake()"), "[BEGIN] <next_snowflake> ERROR:57P03 ZE")
	x.says(x.query("COMMIT"), "[ROLLBACK] ZI")
	if n := ids.last.Load(); n != 0 {
		t.Errorf("%d IDs were drawn without a grant", n)
	}
	ids.fails.Store(nil)
	x.says(x.query("SELECT next_snowflake()"), "<next_snowflake> (1) [SELECT 1] ZI")
	answers := int64(0)
	for kind := range x.s.counts.Answers {
		answers += x.s.counts.Answers[kind].Load()
	}
	if answers != 1 {
		t.Errorf("%d answers are counted; expected the one that gave an ID", answers)
	}
	if n := x.s.counts.refused[refusedWithoutIDs].Load(); n != 4 {
		t.Errorf("%d statements are counted as without IDs; expected 4", n)
	}
}

// IDs can run out in the middle of rows. As with PostgreSQL, the error then follows the rows that were given. IDs come
// in portions of 256, so here one portion comes, and 44 IDs are lost.
func TestIDsThatRunOutInTheMiddleOfRowsEndThemWithAnError(t *testing.T) {
	ids := &ending{left: 300}
	x := newTalk(t, testServer(t, ids))
	heard := x.query("SELECT next_snowflake(), next_snowflake() FROM generate_series(1, 200)")
	if rows := strings.Count(heard, "("); rows != 128 || !strings.HasSuffix(heard, ") ERROR:57P03 ZI") {
		t.Errorf("%d rows and then %s; expected 128, a portion, and an ERROR", rows, heard[max(0, len(heard)-40):])
	}
}

// ending is a grant that ends after some IDs.
type ending struct {
	counter
	left int
}

func (e *ending) TryNextN(n int) (int64, int, error) {
	if e.left == 0 {
		return 0, 0, errors.New("the mark is reached")
	}
	n = min(n, e.left)
	e.left -= n
	return e.counter.TryNextN(n)
}

// Clients draw in all ways, leave in the middle of rows, and close portals that are half read.
func TestInvariant3AnIDIsGivenOnce(t *testing.T) {
	v := testServer(t, realGenerator(t))
	var mu sync.Mutex
	seen := make(map[string]bool)
	count := func(heard string) {
		mu.Lock()
		defer mu.Unlock()
		for word := range strings.FieldsSeq(heard) {
			if !strings.HasPrefix(word, "(") {
				continue
			}
			for id := range strings.SplitSeq(strings.Trim(word, "()"), ",") {
				if seen[id] {
					t.Errorf("ID %s came twice", id)
				}
				seen[id] = true
			}
		}
	}
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			x := newTalk(t, v)
			for range 20 {
				count(x.query("SELECT next_snowflake(), next_snowflake() FROM generate_series(1, 500)"))
				count(x.query("SELECT next_snowflake()"))
				x.send(parse("", "SELECT * FROM next_snowflakes(10)"), bind("p", ""), execute("p", 3), execute("p", 3),
					syncs)
				count(x.hear("Z"))
				count(x.query("BEGIN; DECLARE c CURSOR FOR SELECT * FROM next_snowflakes(9); FETCH 4 c; " +
					"MOVE 2 c; FETCH ALL c; ROLLBACK"))
			}
			if i%2 == 0 { // and leaves
				x.send(&pgproto3.Query{String: "SELECT * FROM next_snowflakes(10000)"})
				_, _ = io.ReadFull(x.conn, make([]byte, 1000))
				x.conn.Close()
			}
		})
	}
	clients.Wait()
	if len(seen) < 8*20*1000 {
		t.Errorf("%d IDs were given; expected more", len(seen))
	}
}

// A client that reads nothing blocks its own session in a write. Others log in, draw, and see who is there.
func TestInvariant4NoLockIsHeldWhileAClientIsWaitedFor(t *testing.T) {
	v := testServer(t, realGenerator(t))
	stuck := newTalk(t, v)
	const asked = 200 // far more than sockets take
	for range asked {
		stuck.send(&pgproto3.Query{String: "SELECT * FROM next_snowflakes(10000)"})
	}
	for stuck.s.ToClient.Idle() || stuck.s.counts.IDs.Load() == 0 {
		runtime.Gosched()
	}
	for range 100 {
		x := newTalk(t, v)
		heard := x.query("SELECT * FROM next_snowflakes(1000); SHOW SESSIONS")
		if !strings.HasSuffix(heard, "[SHOW] ZI") {
			t.Fatal("another client hears", heard[max(0, len(heard)-80):])
		}
	}
	if stuck.s.counts.IDs.Load() >= asked*10000 {
		t.Error("the client that takes nothing was not waited for; this test proves nothing")
	}
}

func TestInvariant5WhatAClientCanMakeASessionKeepIsBounded(t *testing.T) {
	long := strings.Repeat("x", 4000)
	for name, c := range map[string]func(i int) said{
		"statements": func(i int) said { return said{parse(fmt.Sprint("s", i), "SELECT next_snowflake()"), syncs} },
		"long statements": func(i int) said {
			return said{parse(fmt.Sprint("s", i), "SELECT "+strings.Repeat("1,", 120)+"1"), syncs}
		},
		"portals": func(i int) said {
			return said{parse("", "SELECT current_setting($1)"), bind(fmt.Sprint("p", i), "", long), flushes}
		},
		"cursors": func(i int) said {
			return said{&pgproto3.Query{
				String: fmt.Sprintf("DECLARE c%d CURSOR WITH HOLD FOR SELECT '%s'", i, long),
			}}
		},
		"settings": func(i int) said {
			return said{&pgproto3.Query{String: fmt.Sprintf("SET a.s%d TO '%s'", i, long)}}
		},
		"settings of a transaction": func(i int) said {
			return said{&pgproto3.Query{String: fmt.Sprintf("BEGIN; SET LOCAL a.s%d TO '%s'", i, long)}}
		},
		"savepoints": func(i int) said {
			return said{&pgproto3.Query{String: fmt.Sprintf("BEGIN; SAVEPOINT s; SET a.s TO '%d'", i)}}
		},
		"a row": func(int) said {
			row := "SELECT set_config('a.b', $1, true)" + strings.Repeat(",current_setting('a.b')", 100)
			return said{parse("", row), bind("", "", strings.Repeat(long, 2)), &pgproto3.Execute{}, syncs}
		},
		"messages": func(int) said { return said{&pgproto3.Query{String: strings.Repeat(long, 10_000)}} },
	} {
		t.Run(name, func(t *testing.T) {
			conn := &scripted{piece: 8192}
			s, err := sessionOn(testServer(t, &counter{}), conn)
			if err != nil {
				t.Fatal(err)
			}
			defer s.cancel()
			before := heapSize()
			for i := 0; !strings.Contains(conn.heard.String(), "54000"); i++ {
				if i > 20_000 {
					t.Fatalf("%d were kept, with %d bytes by the session's count", i, s.session.Kept.Bytes())
				}
				conn.heard.Reset()
				conn.says = encoded(c(i)...)
				if err := s.run(); err != io.EOF {
					t.Fatal(err)
				}
			}
			conn.heard.Reset()
			conn.says = nil
			if kept := heapSize() - before; kept > 4*state.MaxKept || s.session.Kept.Bytes() > state.MaxKept {
				t.Errorf("the session keeps %d bytes, %d by its count; expected at most %d", kept,
					s.session.Kept.Bytes(), state.MaxKept)
			}
			s.forgetAll(t)
			runtime.KeepAlive(s)
		})
	}
}

func heapSize() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// The conversations are random. What a client makes is counted while the session keeps it, and no longer.
func TestInvariant5WhatIsKeptIsCountedToTheByte(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	texts := []string{
		"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "SAVEPOINT b", "ROLLBACK TO a", "RELEASE a", "ROLLBACK TO b",
		"SELEC", "SET a.b TO 'c'", "SET LOCAL a.b TO 'long one'", "SET a.b TO 'd'", "RESET a.b", "RESET ALL",
		"DISCARD ALL", "SET a.b TO DEFAULT",
		"SET LOCAL a.b TO DEFAULT", "DECLARE c CURSOR FOR SELECT 1", "FETCH c", "CLOSE c",
		"CLOSE ALL",
		"DECLARE h CURSOR WITH HOLD FOR SELECT * FROM next_snowflakes(3)", "PREPARE s AS SELECT 1", "DEALLOCATE s",
		"DEALLOCATE ALL", "SELECT next_snowflake()", "SHOW ALL", "SELECT set_config('a.b', 'e', true)", "",
	}
	for range 3000 {
		var messages said
		for range 1 + r.IntN(20) {
			sql := texts[r.IntN(len(texts))]
			statement, portal := []string{"", "s", "t"}[r.IntN(3)], []string{"", "c", "p"}[r.IntN(3)]
			messages = append(messages, said{
				&pgproto3.Query{String: sql}, &pgproto3.Query{String: sql}, &pgproto3.Query{String: "BEGIN;" + sql},
				parse(statement, sql), bind(portal, statement), execute(portal, uint32(r.IntN(3))),
				closes('S', statement), closes('P', portal), syncs, syncs,
			}[r.IntN(10)])
		}
		s, err := sessionOn(testServer(t, &counter{}), &scripted{says: encoded(messages...), piece: 8192})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.run(); err != io.EOF {
			t.Fatal(err)
		}
		s.cancel()
		if s.forgetAll(t); t.Failed() {
			t.Fatalf("%v", messages)
		}
	}
}

func TestInvariant7EachQueryAndEachSyncHasExactlyOneReadyForQuery(t *testing.T) {
	large := &pgproto3.Query{String: "SELECT " + strings.Repeat("1", 20_000)}
	for name, c := range map[string]struct {
		said  said
		heard string
	}{
		"a Query":       {said{&pgproto3.Query{String: "SELECT 1; SELEC"}}, "ERROR:42601 ZI"},
		"a large Query": {said{large, syncs}, "ERROR:54000 ZI ZI"},
		"a large Parse": {said{parse("", large.String), bind("", ""), syncs}, "ERROR:54000 ZI"},
		"large ones that are skipped": {
			said{parse("", large.String), parse("", large.String), large, syncs}, "ERROR:54000 ZI",
		},
		"Syncs": {said{syncs, syncs, syncs}, "ZI ZI ZI"},
		"a Query behind an error": {
			said{bind("", ""), &pgproto3.Query{}, syncs, &pgproto3.Query{}}, "ERROR:26000 ZI empty ZI",
		},
		"a Query within a batch": {said{parse("", ""), &pgproto3.Query{}, syncs}, "1 empty ZI ZI"},
		"FunctionCalls": {
			said{&pgproto3.FunctionCall{}, bind("", "x"), &pgproto3.FunctionCall{}, syncs},
			"ERROR:0A000 ZI ERROR:26000 ZI",
		},
		"a copy that is none": {
			said{&pgproto3.CopyData{Data: make([]byte, 20_000)}, &pgproto3.CopyDone{}, syncs}, "ZI",
		},
		"a Flush": {said{flushes, parse("", ""), flushes, syncs}, "1 ZI"},
		"a failed block in two batches": {
			said{&pgproto3.Query{String: "BEGIN"}, bind("", "x"), syncs, syncs}, "[BEGIN] ZT ERROR:26000 ZE ZE",
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTalk(t, testServer(t, &counter{}))
			x.send(append(c.said, &pgproto3.Terminate{})...)
			x.says(x.hear("never"), c.heard+" end")
		})
	}
}

// A message that makes no sense ends the session. What came before it gets its answer.
func TestWhatCannotBeFollowedEndsTheSession(t *testing.T) {
	for name, c := range map[string]struct{ says, heard string }{
		"an unknown message":     {"?\x00\x00\x00\x04", "FATAL:08P01 end"},
		"a password":             {"p\x00\x00\x00\x05x", "FATAL:08P01 end"},
		"a length of three":      {"Q\x00\x00\x00\x03", "FATAL:08P01 end"},
		"a length of gigabytes":  {"Q\xff\xff\xff\xff", "FATAL:08P01 end"},
		"a Sync that is large":   {"S\x00\x00\xff\xff", "FATAL:08P01 end"},
		"a Sync with contents":   {"S\x00\x00\x00\x05xX\x00\x00\x00\x04", "ERROR:08P01 ZI end"},
		"a Flush with contents":  {"H\x00\x00\x00\x05xS\x00\x00\x00\x04X\x00\x00\x00\x04", "ERROR:08P01 ZI end"},
		"a Query without an end": {"Q\x00\x00\x00\x05xX\x00\x00\x00\x04", "ERROR:08P01 ZI end"},
		"a Bind that is torn": {
			"B\x00\x00\x00\x07\x00\x00\x00S\x00\x00\x00\x04X\x00\x00\x00\x04", "ERROR:26000 ZI end",
		},
		"Describe of nothing": {"D\x00\x00\x00\x06x\x00S\x00\x00\x00\x04X\x00\x00\x00\x04", "ERROR:08P01 ZI end"},
		"Parse with too much, of a text that came before": {
			"P\x00\x00\x00\x1f\x00SELECT next_snowflake()\x00\x00\x00S\x00\x00\x00\x04" +
				"P\x00\x00\x00\x20\x00SELECT next_snowflake()\x00\x00\x00xS\x00\x00\x00\x04X\x00\x00\x00\x04",
			"1 ZI ERROR:08P01 ZI end",
		},
		"half a message": {"Q\x00\x00\x00\x10SEL", ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTalk(t, testServer(t, &counter{}))
			x.write(append(encoded(&pgproto3.Query{}), c.says...))
			x.says(x.hear("Z"), "empty ZI")
			if c.heard == "" {
				x.conn.Close()
				if err := <-x.ended; err != io.EOF {
					t.Errorf("the session ended with %v; expected %v", err, io.EOF)
				}
				return
			}
			x.says(x.hear("never"), c.heard)
		})
	}
}

func TestInvariant9ASessionThatWaitsHasNoBuffer(t *testing.T) {
	const sessions = 300
	v := testServer(t, &counter{})
	var talks []*talk
	for range sessions {
		x := newTalk(t, v)
		x.front = nil
		talks = append(talks, x)
	}
	before := heapSize()
	reply := make([]byte, 4096)
	for _, x := range talks {
		x.write(encoded(append(prepares(), bind("", "s"), execute("", 0), syncs)...))
		for n := 0; n == 0 || reply[n-1] != wire.StatusIdle || !strings.Contains(string(reply[:n]), "SELECT 1"); {
			m, err := x.conn.Read(reply[n:])
			if err != nil {
				t.Fatal(err)
			}
			n += m
		}
	}
	for _, x := range talks {
		for !x.s.ToClient.Idle() {
			runtime.Gosched()
		}
	}
	if each := (heapSize() - before) / sessions; each > 3000 {
		t.Errorf("a session that waits has %d bytes more than before its first message; expected no buffer", each)
	}
	runtime.KeepAlive(talks)
}
