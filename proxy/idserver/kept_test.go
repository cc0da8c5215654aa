package idserver

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"

	"pgflurry/proxy/idserver/state"
)

// What a client made just before its session was full exists completely, or not at all.
func TestAPortalForWhichThereIsNoRoomIsNotThere(t *testing.T) {
	made := map[string]said{
		"by Bind":    {bind("p", "s"), syncs},
		"by DECLARE": {&pgproto3.Query{String: "DECLARE p CURSOR FOR SELECT 1"}},
	}
	for name, makes := range made {
		t.Run(name, func(t *testing.T) {
			for room := state.CostOf("p"); ; room += 7 {
				conn := &scripted{piece: 8192}
				s, err := sessionOn(testServer(t, &counter{}), conn)
				if err != nil {
					t.Fatal(err)
				}
				defer s.cancel()
				hears := func(messages ...pgproto3.FrontendMessage) string {
					conn.heard.Reset()
					conn.says = encoded(messages...)
					if err := s.run(); err != io.EOF {
						t.Fatalf("with room for %d bytes the session ended with %v", room, err)
					}
					return conn.heard.String()
				}
				hears(parse("s", "SELECT 1"), syncs, &pgproto3.Query{String: "BEGIN; SAVEPOINT a"})
				filled := state.MaxKept - room - s.session.Kept.Bytes()
				if err := s.session.Kept.Add(filled); err != nil {
					t.Fatal(err)
				}
				fits := !strings.Contains(hears(makes...), "54000")
				hears(&pgproto3.Query{String: "ROLLBACK TO a"})
				if heard := hears(execute("p", 0), syncs); !strings.Contains(heard, "34000") {
					t.Errorf("with room for %d bytes the portal is there: %q", room, heard)
				}
				s.session.Kept.Free(filled)
				s.forgetAll(t)
				if fits {
					break
				}
			}
		})
	}
}

// Even for the cheapest objects, the count is about the memory that they take.
func TestInvariant5WhatManySmallThingsTakeIsCounted(t *testing.T) {
	few, many := strings.Repeat("1,", 99)+"1", strings.Repeat("1,", 1600)+"1"
	types := make([]uint32, 1900)
	for i := range types {
		types[i] = 23
	}
	nulls := pgproto3.Bind{Parameters: make([][]byte, len(types))}
	for name, c := range map[string]func(i int) said{
		"types of parameters": func(i int) said { return said{parse(fmt.Sprint("t", i), "", types...), syncs} },
		"parameters that are null": func(i int) said {
			bound := nulls
			bound.DestinationPortal = fmt.Sprint("p", i)
			return said{&pgproto3.Query{String: "BEGIN"}, parse("", "", types...), &bound, flushes}
		},
		"columns":           func(i int) said { return said{parse(fmt.Sprint("s", i), "SELECT "+few), syncs} },
		"columns of VALUES": func(i int) said { return said{parse(fmt.Sprint("s", i), "VALUES ("+few+")"), syncs} },
		"lookups": func(i int) said {
			return said{parse(fmt.Sprint("s", i), "SELECT RELNAME FROM PG_CLASS WHERE OID=0"), syncs}
		},
		"values": func(i int) said { return said{parse(fmt.Sprint("s", i), "SET a.b TO "+many), syncs} },
		"tables": func(i int) said {
			return said{
				&pgproto3.Query{String: "BEGIN"}, parse("", "SHOW ALL"), bind(fmt.Sprint("p", i), ""),
				execute(fmt.Sprint("p", i), 0), flushes,
			}
		},
		"tables that were not read to their end": func(i int) said {
			return said{
				&pgproto3.Query{String: "BEGIN"}, parse("", "SHOW ALL"), bind(fmt.Sprint("p", i), ""),
				parse("", fmt.Sprintf("FETCH 1 FROM p%d", i)), bind("", ""), execute("", 0), flushes,
			}
		},
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
				conn.heard.Reset()
				conn.says = encoded(c(i)...)
				if err := s.run(); err != io.EOF || i > 3000 {
					t.Fatalf("%v after %d; %d bytes are kept; %.300q", err, i, s.session.Kept.Bytes(),
						conn.heard.String())
				}
			}
			conn.heard.Reset()
			conn.says = nil
			kept := heapSize() - before
			t.Logf("%d bytes are kept", kept)
			if kept > 2*state.MaxKept || s.session.Kept.Bytes() > state.MaxKept {
				t.Errorf("the session keeps %d bytes, %d by its count; expected at most %d", kept,
					s.session.Kept.Bytes(), state.MaxKept)
			}
			s.forgetAll(t)
			runtime.KeepAlive(s)
		})
	}
}
